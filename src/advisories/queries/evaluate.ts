// What an advisory says of the package and the version that a query asks for.
import type {
  AdvisoryRecord,
  AdvisoryStatements,
  ProductStatement,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { holdingStatements } from "../derive/holding.ts";
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
  const said = live.flatMap((record) =>
    record.statements
      // A record that gave the advisory its public id has what it says of other products, too.
      .filter(({ advisoryId }) => advisoryId === "" || advisoryId === advisory?.advisoryId)
      .map((statement) => ({ record, statement })),
  );
  const findings = holdingStatements(said).flatMap(({ record, statement }): Finding[] => {
    const found = statusIn(statement, asked);
    return found ? [{ ...found, record, statement }] : [];
  });
  const worst = worstOf(findings);
  return worst && { ...worst, findings };
}

function statusIn(statement: ProductStatement, asked: QueriedPackage): VersionStatus | undefined {
  if (asked.commit !== "") return statusAtCommit(statement, asked.commit);
  if (!statement.product || !isAbout(statement, asked)) return undefined;
  return statusAt(statement, versionFor(statement.product, asked));
}
