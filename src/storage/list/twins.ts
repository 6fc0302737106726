// Finds equal resources that were created one shortly after the other.

import type { Collection, ResourceRow } from "../collection/collection.ts";
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, asc, getTableColumns, gt, lt, sql } from "../schema/drizzle.ts";
import type { ScanRange } from "./scan.ts";

/** The longest time between the creations of twins, in milliseconds. */
export const maxApartMs = 60_000;

/** A resource, and an equal one that was created before it. */
export interface TwinRows {
  readonly uid: string;
  readonly createTime: number;
  readonly firstUid: string;
  readonly firstTime: number;
}

/** The columns in which twins differ. */
const ownColumns = ["uid", "createTime", "updateTime"];

/**
 * Returns up to `limit` resources of a range that have the parent and the content of one that was created at most a minute before them,
 * in the order of their uids.
 */
export async function findTwins<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  range: ScanRange,
  limit: number,
): Promise<TwinRows[]> {
  const statement = session.prepared(`twins.${collection.kind}`, (db, tables) => {
    const table = collection.rows(tables);
    const { uid, createTime } = table;
    // JSON columns of PostgreSQL cannot be compared, and equal requests are stored as equal texts.
    const content = contentColumns(collection, tables).map((column) => sql`cast(${column} as text)`);
    const before = sql`over (partition by ${sql.join(content, sql`, `)} order by ${createTime}, ${uid})`;
    const neighbours = db
      .select({
        uid: sql<string>`${uid}`.as("uid"),
        createTime: sql<number>`${createTime}`.mapWith(Number).as("create_time"),
        firstUid: sql<string>`lag(${uid}) ${before}`.as("first_uid"),
        firstTime: sql<number>`lag(${createTime}) ${before}`.mapWith(Number).as("first_time"),
      })
      .from(table)
      .where(and(gt(uid, textPlaceholder("from")), lt(uid, textPlaceholder("to"))))
      .as("neighbours");
    return db
      .select()
      .from(neighbours)
      .where(sql`${neighbours.createTime} - ${neighbours.firstTime} <= ${sql.raw(String(maxApartMs))}`)
      .orderBy(asc(neighbours.uid))
      .limit(limitOf("limit"));
  });
  return await statement.execute({ ...range, limit });
}

function contentColumns<R extends ResourceRow>(
  { rows, unloggedColumns = [], internal = [] }: Collection<R>,
  tables: Parameters<Collection<R>["rows"]>[0],
) {
  const left: readonly string[] = [...ownColumns, ...unloggedColumns, ...internal];
  return Object.entries(getTableColumns(rows(tables))).flatMap(([name, column]) =>
    left.includes(name) ? [] : [column],
  );
}
