import type { AdvisoryRecord, ProductStatement } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { VersionStatus } from "../versions/status.ts";

/** The status of the queried version according to one statement. */
export interface Finding extends VersionStatus {
  readonly record: AdvisoryRecord;
  readonly statement: ProductStatement;
}
