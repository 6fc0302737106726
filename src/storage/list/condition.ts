import type { SQL } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { SessionDialect } from "../engine/session.ts";
import type { Tables } from "../schema/tables.ts";

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
  readonly indexes?: readonly SideIndex[];
  /** Whether the only finder finds exactly these rows. */
  readonly indexIsExact?: boolean;
  /** The condition is fulfilled by all rows but those that this finds. */
  readonly excludedBy?: SideIndex;
  /** Whether nothing that it looks at changes without a change of the row in the change log; false when absent. */
  readonly dependsOnRowsOnly?: boolean;
}

/** A side table, and which of its rows name the rows that are looked for. */
export interface SideIndex {
  /** Names the shape: finders of one name have the same text. */
  readonly name: string;
  readonly table: (tables: Tables) => PgTable & { readonly uid: PgColumn };
  readonly where: (dialect: SessionDialect) => SQL | undefined;
  /** By the name of the placeholder. */
  readonly values: Readonly<Record<string, string>>;
  /** Whether no row is named twice. */
  readonly isDistinct: boolean;
  /** Whether the rows come in the order of their uids, without being sorted. */
  readonly isSortedByUid: boolean;
  /** The search term, in lower case, if the table is that of the searched texts. */
  readonly term?: string;
}
