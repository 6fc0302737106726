import type { Yield } from "../../base/yielding.ts";
import { rangeBelow } from "../../model/uid.ts";
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Prepared, Session } from "../engine/session.ts";
import { and, gte, lt } from "../schema/drizzle.ts";
import type { Collection, ResourceRow } from "./collection.ts";

/** How many rows one statement reads: SQLite reads them all in one piece. */
const pageRows = 500;

/** Returns the descendants of a uid, at most `limit`, by uid: ancestors come first. Calls `pause` after each few hundred. */
export async function findSubtreeRows<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  uid: string,
  limit: number,
  pause?: Yield,
): Promise<readonly R[]> {
  const { from, to } = rangeBelow(uid);
  if (!pause) return await readRange(session, collection, { from, to, limit });
  const found: R[] = [];
  for (let next = from; found.length < limit; ) {
    const rows = await readRange(session, collection, {
      from: next,
      to,
      limit: Math.min(pageRows, limit - found.length),
    });
    for (const row of rows) found.push(row);
    if (rows.length < pageRows) break;
    // The next uid: a uid goes on with a slash, which comes after this character.
    next = `${rows.at(-1)!.uid}!`;
    await pause();
  }
  return found;
}

interface Range {
  readonly from: string;
  readonly to: string;
  readonly limit: number;
}

async function readRange<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  range: Range,
): Promise<readonly R[]> {
  const statement = session.prepared(`${collection.kind}.subtree`, (db, tables) => {
    const table = collection.rows(tables);
    return db
      .select()
      .from(table)
      .where(and(gte(table.uid, textPlaceholder("from")), lt(table.uid, textPlaceholder("to"))))
      .orderBy(table.uid)
      .limit(limitOf("limit"));
  });
  return await (statement as unknown as Prepared<R[]>).execute({ ...range });
}
