import type { Group, OrgKind, OrgStatus } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import type { GroupRow } from "./rows.ts";

/** A stored group as a message. */
export function groupMessage(row: GroupRow): Group {
  const { uid, name, description, resourceLimits, verified } = row;
  const [kind, status] = [row.kind as OrgKind, row.status as OrgStatus];
  return {
    $typeName: "chainguard.platform.iam.v2beta1.Group",
    uid,
    name,
    description,
    resourceLimits,
    verified,
    kind,
    status,
    createTime: toTimestamp(row.createTime),
    updateTime: toTimestamp(row.updateTime),
  };
}
