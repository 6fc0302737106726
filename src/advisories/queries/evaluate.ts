// What an advisory says of the package and the version that a query asks for.
import {
  type AdvisoryRecord,
  type AdvisoryStatements,
  type ProductStatement,
  ProductStatus,
  RecordFormat,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { holdingRecords } from "../derive/holding.ts";
import { statusAt, statusAtCommit, type VersionStatus, worstOf } from "../versions/status.ts";
import { isAbout, type QueriedPackage, versionFor } from "./package.ts";

/** What one statement says of the version. */
export interface Finding extends VersionStatus {
  readonly record: AdvisoryRecord;
  readonly statement: ProductStatement;
}

/** What all statements of an advisory say of the version. */
export interface Answer extends VersionStatus {
  readonly findings: readonly Finding[];
}

/** Evaluates the statements of an advisory that hold; undefined when none of them says anything of the version. */
export function evaluate({ advisory, records }: AdvisoryStatements, asked: QueriedPackage): Answer | undefined {
  const live = records.filter(({ withdrawTime }) => !withdrawTime);
  const findings = holdingRecords(advisory?.advisoryId ?? "", live).flatMap((record) =>
    record.statements.flatMap((statement): Finding[] => {
      const found = statusIn(record, statement, asked);
      return found ? [{ ...found, record, statement }] : [];
    }),
  );
  const worst = worstOf(findings);
  return worst && { ...worst, findings };
}

function statusIn(
  { format }: AdvisoryRecord,
  statement: ProductStatement,
  asked: QueriedPackage,
): VersionStatus | undefined {
  if (asked.commit !== "") return statusAtCommit(statement, asked.commit);
  if (!statement.product || !isAbout(statement, asked)) return undefined;
  const found = statusAt(statement, versionFor(statement.product, asked));
  // Other formats than OSV do not say that the versions outside of an affected range are not affected.
  const isUnsaid = found?.status === ProductStatus.NOT_AFFECTED && statement.status === ProductStatus.AFFECTED;
  return isUnsaid && format !== RecordFormat.OSV ? undefined : found;
}
