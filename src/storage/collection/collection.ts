// Declares how a resource is stored: its rows, its entries, and what depends on them.
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Session, Transaction } from "../engine/session.ts";
import type { Tables } from "../schema/tables.ts";

/** The columns that every resource has, and those that only some lists are sorted by. */
export interface ResourceRow {
  readonly uid: string;
  /** The uid of the parent; null for rows without one. */
  readonly parent: string | null;
  readonly createTime: number;
  readonly name?: string;
  readonly updateTime?: number;
  readonly aliasText?: string;
  readonly sink?: string;
  readonly artifactName?: string;
  readonly score?: number | null;
  readonly publishTime?: number | null;
  readonly roleUid?: string;
  /** No column: lists in the order of role names add it. */
  readonly roleName?: string;
}

/** The table of any resource. */
export type RowTable = PgTable & { uid: PgColumn; parent: PgColumn; createTime: PgColumn };

/** The tables of one resource. */
export interface CollectionTables {
  /** The plural name, such as `groups`. */
  readonly kind: string;
  readonly rows: (tables: Tables) => RowTable;
  readonly entries: (tables: Tables) => Tables["groupEntries"];
  /** Whether a row has the uid of its group. Descendants of that uid then belong to the group. */
  readonly sharesUid?: boolean;
  /** Further tables derived from the rows. */
  readonly derived?: DerivedTables;
}

/** Tables derived from the rows of a collection, besides its entries and counters. */
export interface DerivedTables {
  /** These tables, and all that they are derived from. */
  readonly tables: (tables: Tables) => readonly PgTable[];
  /** Yields a sentence for each inconsistency. */
  findings(session: Session): AsyncIterable<string>;
  /** Repairs all inconsistencies. Returns how many there were. */
  repair(tx: Transaction): Promise<number>;
}

/** Declares how one resource is stored. */
export interface Collection<R extends ResourceRow> extends CollectionTables {
  /** The changes of a row that can change permissions. */
  readonly changesAccess: readonly Change[];
  /** Columns that are never written to the change log. */
  readonly secret?: readonly (keyof R & string)[];
  /** Columns that no response and no event shows. An update of only these is stored, but not logged. */
  readonly internal?: readonly (keyof R & string)[];
  /** Whether its rows are part of exports: a change then updates the export state of the group; false if absent. */
  readonly isExported?: boolean;
  /** Columns whose updates skip the change log; none if absent. Rows with such columns are not cached. */
  readonly unloggedColumns?: readonly (keyof R & string)[];
  /** Whether lists show more than rows whose changes are in the change log; false if absent. No replica answers them then. */
  readonly showsUnlogged?: boolean;
  /** Cache weight: the size of the response built from a row, as a multiple of the row. Default 1. */
  readonly responseWeight?: number;
  /** Updates dependent rows of other tables: after an insert or update of a row, and before a delete. */
  readonly syncDependents?: (tx: Transaction, before: R | undefined, after: R | undefined) => Promise<void>;
}

/** Further values for the change log, before and after the change. */
export interface Logged {
  readonly before?: object | undefined;
  readonly after?: object | undefined;
}

/** The kinds of changes of a row. */
export type Change = "insert" | "update" | "delete";
