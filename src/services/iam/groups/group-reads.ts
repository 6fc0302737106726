// Reads groups as messages, which contain fields of their organization.
import { type Group, GroupSchema } from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { notFound } from "../../../aip/errors.ts";
import { resourceType } from "../../../aip/resource-type.ts";
import { type MaybePromise, mapMaybe } from "../../../base/maybe-promise.ts";
import { rootOf } from "../../../model/uid.ts";
import { type MakeItems, rowsThatFit } from "../../../resource/list-page.ts";
import type { Database } from "../../../storage/database.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { groupCollection } from "../../../storage/iam/collections.ts";
import type { GroupRow } from "../../../storage/iam/rows.ts";
import { groupMessage, groupMessages, onePerOrganization } from "./group-message.ts";
import { findOrganizations } from "./organizations.ts";

/** Returns a group as its message. */
export async function showGroup(database: Database, session: Session, row: GroupRow): Promise<Group> {
  return groupMessage(row, (await findOrganizations(database, session, [row])).get(rootOf(row.uid)));
}

/** Returns the function that converts the rows of a list. */
export function groupItems(database: Database): MakeItems<GroupRow, Group> {
  return async (session, rows) =>
    groupMessages(rowsThatFit(session, rows), await findOrganizations(database, session, onePerOrganization(rows)));
}

/** Returns a group. Synchronous if the group and its organization are cached. */
export function getGroup(database: Database, uid: string): MaybePromise<Group> {
  const root = rootOf(uid);
  return mapMaybe(database.rows.findAll(groupCollection, uid === root ? [uid] : [uid, root]), (rows) => {
    const row = rows.find((each) => each.uid === uid);
    if (!row) throw notFound(resourceType(GroupSchema), uid);
    return groupMessage(
      row,
      rows.find((each) => each.uid === root),
    );
  });
}
