import type { Group, OrgKind, OrgStatus } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import type { Standing } from "./organizations.ts";
import type { GroupRow } from "./rows.ts";

/** A stored group as a message, with the standing of its organization, which is that of the row where it is one. */
export function groupMessage(row: GroupRow, standing: Standing = row): Group {
  const { uid, name, description, resourceLimits, verified } = row;
  const [kind, status] = [standing.kind as OrgKind, standing.status as OrgStatus];
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
