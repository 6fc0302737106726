import { rangeBelow } from "../../model/uid.ts";
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Prepared, Session } from "../engine/session.ts";
import { and, gte, lt } from "../schema/drizzle.ts";
import type { Collection, ResourceRow } from "./collection.ts";

/** Returns the descendants of a uid, at most `limit`, by uid: ancestors come first. */
export async function findSubtreeRows<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  uid: string,
  limit: number,
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
  return await (statement as unknown as Prepared<R[]>).execute({ ...rangeBelow(uid), limit });
}
