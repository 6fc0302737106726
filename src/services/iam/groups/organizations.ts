// The state of an organization, which all of its groups show.
import { type MaybePromise, mapMaybe } from "../../../base/maybe-promise.ts";
import { rootOf } from "../../../model/uid.ts";
import type { Database } from "../../../storage/database.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { groupCollection } from "../../../storage/iam/collections.ts";
import type { GroupRow } from "../../../storage/iam/rows.ts";

/** The kind and status of an organization. Subgroups do not store their own, so a change is visible in all of them at once. */
export type OrganizationState = Pick<GroupRow, "kind" | "status">;

/** Returns the organizations of groups by uid, in the order of the groups and from the snapshot of the session. */
export function findOrganizations(
  { rows }: Pick<Database, "rows">,
  session: Session,
  groups: readonly Pick<GroupRow, "uid">[],
): MaybePromise<ReadonlyMap<string, GroupRow>> {
  if (groups.length === 0) return new Map();
  const uids = [...new Set(groups.map(({ uid }) => rootOf(uid)))];
  return mapMaybe(rows.findAll(groupCollection, uids, session), (found) => {
    const known = new Map(found.map((row) => [row.uid, row]));
    return new Map(uids.flatMap((uid) => (known.has(uid) ? [[uid, known.get(uid)!]] : [])));
  });
}
