import type { Collection, ResourceRow } from "../collection/collection.ts";
import type { Session } from "../engine/session.ts";
import { and, eq, sql } from "../schema/drizzle.ts";
import type { Condition } from "./condition.ts";

/** Returns whether the row with this uid matches a condition. */
export async function matchesCondition<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  uid: string,
  condition: Condition,
): Promise<boolean> {
  const statement = session.prepared(`${collection.kind}.fulfils.${condition.name}`, (db, tables) => {
    const rows = collection.rows(tables);
    const select = db.select({ uid: rows.uid }).from(rows);
    return select.where(and(eq(rows.uid, sql.placeholder("uid")), condition.build(session)));
  });
  return (await statement.execute({ uid, ...condition.values })).length > 0;
}
