import type { SQL } from "drizzle-orm";
import type { Collection, ResourceRow } from "../collection/collection.ts";
import type { Session, SessionDialect } from "../engine/session.ts";
import { and, eq, sql } from "../schema/drizzle.ts";
import type { Finder } from "./range-plan.ts";

/**
 * What listed rows must fulfil beyond having values in columns.
 *
 * All conditions of one name have the same text, whatever is asked for, so that there is one statement of each shape. It is
 * tried on the rows of a range in their order, unless a finder knows of few rows that fulfil it.
 */
export interface Condition {
  readonly name: string;
  /** The text, with a placeholder for each value. */
  readonly build: (session: SessionDialect) => SQL;
  /** By the name of the placeholder. */
  readonly values: Readonly<Record<string, string | number | null>>;
  /** Each finds at least the rows that fulfil the condition. */
  readonly finders?: readonly Finder[];
  /** Whether the only finder finds exactly these rows. */
  readonly isExact?: boolean;
  /** The condition is fulfilled by all rows but those that this finds. */
  readonly without?: Finder;
  /** Whether nothing that it looks at changes without a change of the row in the change log; false when absent. */
  readonly followsRows?: boolean;
}

/**
 * A placeholder for a text. PostgreSQL needs the type where the text may be missing. SQLite needs the expression in a statement with
 * `ORDER BY`: with a bare `column = ?` it plans the statement again at every run, because the value may decide about the order.
 */
export function textPlaceholder(name: string): SQL {
  return sql`cast(${sql.placeholder(name)} as text)`;
}

/** A placeholder for a number. */
export function numberPlaceholder(name: string): SQL {
  return sql`cast(${sql.placeholder(name)} as bigint)`;
}

/** Whether the row of this uid fulfils a condition. */
export async function fulfils<R extends ResourceRow>(
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
