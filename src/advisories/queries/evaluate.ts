// Evaluates an advisory for the package and the version of a query.
import {
  type AdvisoryStatements,
  type ProductStatement,
  ProductStatus,
  RecordFormat,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { holdingRecords } from "../derive/holding.ts";
import { statusAt, statusAtCommit, type VersionStatus, worstOf } from "../versions/status.ts";
import type { Finding } from "./finding.ts";
import { isAbout, isAboutAllOf, namesVendor, type QueriedPackage, versionFor } from "./package.ts";
import { weigh } from "./weigh.ts";

const { AFFECTED, NOT_AFFECTED, FIXED } = ProductStatus;

/** The status of the queried version according to all statements of an advisory. */
export interface Answer extends VersionStatus {
  readonly findings: readonly Finding[];
}

/** Evaluates the statements of an advisory that hold; undefined when none of them says anything of the version. */
export function evaluate({ advisory, records }: AdvisoryStatements, asked: QueriedPackage): Answer | undefined {
  const live = records.filter(({ withdrawTime }) => !withdrawTime);
  const said = holdingRecords(advisory?.advisoryId ?? "", live).flatMap((record) =>
    record.statements.map((statement) => ({ record, statement })),
  );
  const findings = asked.commit === "" ? findingsOn(said, asked) : findingsOnCommit(said, asked.commit);
  const worst = worstOf(findings);
  return worst && { ...worst, findings };
}

type Said = Pick<Finding, "record" | "statement">;

function findingsOnCommit(said: readonly Said[], commit: string): Finding[] {
  return said.flatMap((each) => {
    const found = statusAtCommit(each.statement, commit);
    return found ? { ...each, ...found } : [];
  });
}

function findingsOn(said: readonly Said[], asked: QueriedPackage): Finding[] {
  const about = said.flatMap((each) => {
    const { product } = each.statement;
    const isHeard = product && isAbout(each.statement, asked);
    return isHeard ? { ...each, version: versionFor(product, asked) } : [];
  });
  return weigh(
    about.map((each) => {
      const status = statusAt(each.statement, each.version);
      const found = status && isSaid(each, status) ? status : undefined;
      return { ...each, found, isTold: found !== undefined && isTold(each.statement, found, asked) };
    }),
  );
}

/** Other formats than OSV do not say that the versions outside of an affected range are not affected. */
function isSaid({ record, statement }: Said, { status }: VersionStatus): boolean {
  const isOutside = status === NOT_AFFECTED && statement.status === AFFECTED;
  return !isOutside || record.format === RecordFormat.OSV;
}

/** A status that holds for one platform or one part of a package says nothing about the others. */
function isTold({ product, release }: ProductStatement, { status }: VersionStatus, asked: QueriedPackage): boolean {
  if (status !== NOT_AFFECTED && status !== FIXED) return true;
  if (!isAboutAllOf(product!, asked)) return false;
  return release === "" || asked.release !== "" || namesVendor(product!);
}
