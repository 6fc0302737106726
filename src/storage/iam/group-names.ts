// Finds groups by name. The entries find a name under a key, without reading groups elsewhere. They hold only a prefix
// of a long name, so the row is compared as well.

import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, eq, getTableColumns, sql } from "../schema/drizzle.ts";
import { childrenKey } from "../schema/entry-keys.ts";
import { sortPrefix } from "../schema/ordered-text.ts";
import { lastSegment, uidOf } from "../schema/tables/entries.ts";

/** Returns the direct children of a group with a name, `limit` at most. */
export async function findChildGroups(session: Session, parent: string, name: string, limit: number) {
  return await findNamed(session, [childrenKey(parent)], name, limit);
}

/**
 * Returns groups with a name among these uids and their descendants, two at most: a second one shows that the name is
 * ambiguous. No uid may be a descendant of another. Takes two statements for any number of uids.
 */
export async function findGroupsNamed(session: Session, name: string, uids: readonly string[]) {
  if (uids.length === 0) return [];
  const own = session.prepared("groups.are_named", (db, { groups }) =>
    db
      .select({ uid: groups.uid })
      .from(groups)
      .where(and(session.isAmong(groups.uid, textPlaceholder("uids")), eq(groups.name, sql.placeholder("name"))))
      .limit(limitOf(2)),
  );
  const found = await own.execute({ uids: JSON.stringify(uids), name });
  return [...found, ...(await findNamed(session, uids, name, 2))].slice(0, 2);
}

/** Returns the groups whose uids end with these segments. */
export async function findGroupsEnding(session: Session, end: string) {
  const statement = session.prepared("groups.ending", (db, { groups }) =>
    db
      .select({ uid: groups.uid })
      .from(groups)
      .where(sql`${lastSegment(groups.uid)} = ${sql.placeholder("segment")}`),
  );
  const rows = await statement.execute({ segment: end.slice(-16) });
  return rows.filter(({ uid }) => uid.endsWith(`/${end}`));
}

/** Returns the verified root groups with a name. */
export async function findVerifiedRoots(session: Session, name: string) {
  const statement = session.prepared("groups.verified_roots", (db, { groups, groupEntries }) =>
    db
      .select(getTableColumns(groups))
      .from(groupEntries)
      .innerJoin(groups, eq(groups.uid, uidOf(groupEntries)))
      .where(
        and(
          eq(groupEntries.key, sql.placeholder("key")),
          eq(groupEntries.name, sql.placeholder("entered")),
          eq(groups.name, sql.placeholder("name")),
          eq(groups.verified, true),
        ),
      ),
  );
  return await statement.execute({ key: childrenKey(null), entered: sortPrefix(name), name });
}

/** Returns the groups with a name under keys that have no group in common, `limit` at most. */
async function findNamed(session: Session, keys: readonly string[], name: string, limit: number) {
  const statement = session.prepared("groups.named", (db, { groups, groupEntries }) =>
    db
      .select({ uid: groups.uid })
      .from(groupEntries)
      .innerJoin(groups, eq(groups.uid, uidOf(groupEntries)))
      .where(
        and(
          session.isAmong(groupEntries.key, textPlaceholder("keys")),
          eq(groupEntries.name, sql.placeholder("entered")),
          eq(groups.name, sql.placeholder("name")),
        ),
      )
      .limit(limitOf("limit")),
  );
  return await statement.execute({ keys: JSON.stringify(keys), entered: sortPrefix(name), name, limit });
}
