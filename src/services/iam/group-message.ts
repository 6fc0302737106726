import type { Group, OrgKind, OrgStatus } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import { type Fill, fillWithRows } from "../../resource/list-page.ts";
import type { Soon } from "../../storage/session.ts";
import { rootOf } from "../../uid.ts";
import { lookup } from "./hydration.ts";
import { type GroupRow, groupCollection } from "./rows.ts";

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

/**
 * A stored group with the kind and the status of its organization, which are those of every group in it: rows of subgroups
 * have none of their own, so that a change of the organization is seen in all of them at once. `groups` finds the organization.
 */
export async function inOrganization(
  row: GroupRow,
  groups: (uid: string) => Soon<GroupRow | undefined>,
): Promise<GroupRow> {
  if (row.parent === null) return row;
  const { kind = 0, status = 0 } = (await groups(rootOf(row.uid))) ?? {};
  return { ...row, kind, status };
}

/** The groups of a page as messages, as many as fit. */
export const fillWithGroups: Fill<GroupRow, Group> = async (session, rows) => {
  const groups = lookup(session, groupCollection);
  const shown: Group[] = [];
  for (const row of fillWithRows(session, rows)) shown.push(groupMessage(await inOrganization(row, groups)));
  return shown;
};
