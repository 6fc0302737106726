import type { AdvisoryRecord, ProductStatement } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { VersionStatus } from "../versions/status.ts";

/** What one statement says of the version. */
export interface Finding extends VersionStatus {
  readonly record: AdvisoryRecord;
  readonly statement: ProductStatement;
}
