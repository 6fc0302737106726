// Lists in the order of the names of their roles, which are in other rows. The rows of one role are a range of the index by role, so a page
// reads one range after another: a renamed role changes no row, and a page takes as long as its organization has roles in use.
import type { SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import { isWithin, rangeBelow, rootOf } from "../../model/uid.ts";
import type { Collection, ResourceRow, RowTable } from "../collection/collection.ts";
import { findRow } from "../collection/rows.ts";
import { textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, isNull, sql } from "../schema/drizzle.ts";
import { type ListQuery, listRows, type Source } from "./list-rows.ts";
import { compareCursors, roleSortValue } from "./order.ts";
import { countUntil } from "./range.ts";
import { withinSource } from "./range-bounds.ts";

/** A role that rows of a list have; its name is empty if the role was deleted, or the caller may not read it. */
interface UsedRole {
  readonly uid: string;
  readonly name: string;
}

/** Returns one page, by the name of the role, then by the uid of the role, then by the uid of the row. Each row has its `roleName`. */
export async function listByRole<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  query: ListQuery,
): Promise<R[]> {
  const { after, limit, filters, order } = query;
  const found: R[] = [];
  let left = query.skip;
  for (const { uid: roleUid, name } of await rolesInOrder(session, collection, query)) {
    const isCurrent = after?.value === roleSortValue(name, roleUid);
    const part: ListQuery = {
      sources: query.sources,
      condition: query.condition,
      filters: { ...filters, roleUid },
      order: { field: "uid", descending: order.descending },
      after: isCurrent ? { value: after.uid, uid: after.uid } : undefined,
      skip: left,
      limit: limit - found.length,
    };
    const count = left === 0 ? 0 : await countPart(session, collection, part);
    if (left > 0 && count <= left) {
      left -= count;
      continue;
    }
    for (const row of await listRows(session, collection, part)) found.push({ ...row, roleName: name });
    left = 0;
    if (found.length === limit) break;
  }
  return found;
}

/** Returns the roles of the list from that of the cursor on, in order. */
async function rolesInOrder<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  { sources, filters, after, order, namedRoles = [] }: ListQuery,
): Promise<UsedRole[]> {
  const roles = new Map<string, UsedRole>();
  for (const source of sources)
    for (const role of await rolesOf(session, collection, source))
      if (filters.roleUid === undefined || filters.roleUid === role.uid)
        roles.set(role.uid, isNamed(role.uid, namedRoles) ? role : { ...role, name: "" });
  const placeOf = ({ uid, name }: UsedRole) => ({ value: roleSortValue(name, uid), uid: "" });
  return [...roles.values()]
    .filter((role) => !after || compareCursors(placeOf(role), { ...after, uid: "" }, order) >= 0)
    .sort((a, b) => compareCursors(placeOf(a), placeOf(b), order));
}

/** Whether a role sorts by its name. */
function isNamed(roleUid: string, namedRoles: readonly string[]): boolean {
  return !roleUid.includes("/") || namedRoles.some((uid) => isWithin(roleUid, uid));
}

/** Returns the roles that rows of a source have. */
async function rolesOf<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  source: Source,
): Promise<UsedRole[]> {
  if (source.type === "row") {
    const row = await findRow(session, collection, source.uid);
    return row ? await rolesNamed(session, [row.roleUid!]) : [];
  }
  // All rows belong to a group.
  const uid = source.uid!;
  const bounds = source.type === "subtree" ? rangeBelow(uid) : { parent: uid };
  const roles = rangeBelow(rootOf(uid));
  const values = { ...bounds, roleFrom: roles.from, roleTo: roles.to };
  const key = `${collection.kind}.roles.${source.type}`;
  const builtIn = session.prepared(`${key}.built_in`, (db, tables) => {
    const isUsed = existsWith(collection.rows(tables), source.type, tables.roles.uid);
    return db
      .select({ uid: tables.roles.uid, name: tables.roles.name })
      .from(tables.roles)
      .where(and(isNull(tables.roles.parent), isUsed));
  });
  const own = session.prepared(`${key}.own`, (db, tables) => {
    const { rows, roleUid } = withRole(collection.rows(tables));
    const isUsed = existsWith(rows, source.type, sql`used.uid`);
    const { roles: all } = tables;
    // From one role to the next in the index: the rows of a role are not read.
    const used = sql`(with recursive used as (
        select min(${roleUid}) as uid from ${rows} where ${roleUid} >= ${textPlaceholder("roleFrom")} and ${roleUid} < ${textPlaceholder("roleTo")}
        union all
        select (select min(${roleUid}) from ${rows} where ${roleUid} > used.uid and ${roleUid} < ${textPlaceholder("roleTo")})
        from used where used.uid is not null)
      select used.uid as uid, (select ${all.name} from ${all} where ${all.uid} = used.uid) as name
      from used where used.uid is not null and ${isUsed}) as used`;
    return db.select({ uid: sql<string>`used.uid`, name: sql<string | null>`used.name` }).from(used);
  });
  const found = [...(await builtIn.execute(values)), ...(await own.execute(values))];
  return found.map(({ uid: role, name }) => ({ uid: role, name: name ?? "" }));
}

async function rolesNamed(session: Session, uids: readonly string[]): Promise<UsedRole[]> {
  const statement = session.prepared("roles.names", (db, { roles }) =>
    db
      .select({ uid: roles.uid, name: roles.name })
      .from(roles)
      .where(session.isAmong(roles.uid, textPlaceholder("uids"))),
  );
  const names = new Map((await statement.execute({ uids: JSON.stringify(uids) })).map(({ uid, name }) => [uid, name]));
  return uids.map((uid) => ({ uid, name: names.get(uid) ?? "" }));
}

function withRole(rows: RowTable) {
  return { rows, roleUid: (rows as RowTable & { readonly roleUid: PgColumn }).roleUid };
}

/** Returns the condition that a row of a source has a role. */
function existsWith(table: RowTable, type: "subtree" | "children", role: SQL | PgColumn): SQL {
  const { rows, roleUid } = withRole(table);
  return sql`exists (select 1 from ${rows} where ${and(sql`${roleUid} = ${role}`, ...withinSource(rows, rows, type))})`;
}

/** Counts the rows of one role after the cursor. */
async function countPart<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  part: ListQuery,
): Promise<number> {
  let count = 0;
  for (const source of part.sources) {
    const { filters, condition, order, after } = part;
    count +=
      source.type === "row"
        ? (await listRows(session, collection, { ...part, sources: [source], skip: 0, limit: 1 })).length
        : await countUntil(session, collection, { source, filters, condition, order, after }, undefined);
  }
  return count;
}
