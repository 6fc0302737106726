import type { SQLWrapper } from "drizzle-orm";
import { sql } from "./drizzle.ts";

/** The kind of the words of people. */
export const personWords = "people";

/** Returns the condition of the index by person; a statement that contains it can use the index. */
export function isPersonsWord(kind: SQLWrapper) {
  return sql`${kind} = ${sql.raw(`'${personWords}'`)}`;
}
