import type { SQL } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { SessionDialect } from "../engine/session.ts";
import type { Tables } from "../schema/tables.ts";

/**
 * A filter of a list that is more than column values.
 *
 * All conditions with the same name have the same SQL text; values are placeholders. The condition is tested on the
 * rows of a range in list order, unless a side index finds few rows.
 */
export interface Condition {
  readonly name: string;
  /** Returns the SQL text, with a placeholder for each value. */
  readonly build: (session: SessionDialect) => SQL;
  /** By the name of the placeholder. */
  readonly values: Readonly<Record<string, string | number | null>>;
  /** Side indexes; each finds at least the rows that match the condition. */
  readonly indexes?: readonly SideIndex[];
  /** Whether the only index finds exactly the matching rows. */
  readonly indexIsExact?: boolean;
  /** An index of the rows that do not match; all others do. */
  readonly excludedBy?: SideIndex;
  /** Whether the index `advisories_published` has all its columns: it is then tested without reading rows. */
  readonly isPublished?: boolean;
  /**
   * Whether its result changes only with changes of the row in the change log; false if absent. Only then are pages
   * cached.
   */
  readonly dependsOnRowsOnly?: boolean;
}

/** A side table with the uids of rows, and a condition on it. */
export interface SideIndex {
  /** Identifies the SQL text: indexes with the same name have the same text. */
  readonly name: string;
  readonly table: (tables: Tables) => PgTable & { readonly uid: PgColumn };
  readonly where: (dialect: SessionDialect) => SQL | undefined;
  /** By the name of the placeholder. */
  readonly values: Readonly<Record<string, string>>;
  /** Whether each uid occurs at most once. */
  readonly isDistinct: boolean;
  /** Whether the uids come sorted, without a sort. */
  readonly isSortedByUid: boolean;
  /** The search term in lower case, if the table holds the searched texts. */
  readonly term?: string;
}
