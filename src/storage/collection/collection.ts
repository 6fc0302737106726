// How a resource is stored: its rows, its entries, and what depends on them.
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Session, Transaction } from "../engine/session.ts";
import type { Tables } from "../schema/tables.ts";

/** The columns that every resource has; a name and an update time only where the resource has them. */
export interface ResourceRow {
  readonly uid: string;
  /** The uid of the group above; null for rows without one. */
  readonly parent: string | null;
  readonly createTime: number;
  readonly name?: string;
  readonly updateTime?: number;
  readonly aliasText?: string;
}

/** The table of a resource, whichever it is. */
export type RowTable = PgTable & { uid: PgColumn; parent: PgColumn; createTime: PgColumn };

/** Where one resource is stored. */
export interface CollectionTables {
  /** The plural name, such as `groups`. */
  readonly kind: string;
  readonly rows: (tables: Tables) => RowTable;
  readonly entries: (tables: Tables) => Tables["groupEntries"];
  /** Whether a row has the uid of the group that it belongs to; what lies below is then not its own. */
  readonly sharesUid?: boolean;
  /** What else is derived from the rows. */
  readonly derived?: DerivedTables;
}

/** Tables that follow from the rows of a collection, besides its entries and counters. */
export interface DerivedTables {
  /** Those tables, with whatever else they follow from. */
  readonly tables: (tables: Tables) => readonly PgTable[];
  /** A sentence for everything that is not as it should be. */
  findings(session: Session): AsyncIterable<string>;
  /** Puts it right, and tells how much it was. */
  repair(tx: Transaction): Promise<number>;
}

/** How one resource is stored. */
export interface Collection<R extends ResourceRow> extends CollectionTables {
  /** Which changes of a row can change what somebody may do. */
  readonly changesAccess: readonly Change[];
  /** Columns that never enter the change log. */
  readonly secret?: readonly (keyof R & string)[];
  /** Columns that no reply and no event shows: an update of nothing else is stored, but not logged. */
  readonly internal?: readonly (keyof R & string)[];
  /** Whether its rows are exported: a change of one changes the state of its group's exports. False when absent. */
  readonly isExported?: boolean;
  /** Whether a column is set without an entry in the change log; false when absent. */
  readonly hasUnloggedColumns?: boolean;
  /** How much is made of a row that is shown, what is shown with it included, beside what its own columns are; 1 when absent. */
  readonly responseWeight?: number;
  /** Keeps what is stored beside a row: after it has come or changed, and before it goes. */
  readonly syncDependents?: (tx: Transaction, before: R | undefined, after: R | undefined) => Promise<void>;
}

/** What the change log has of a row besides its columns, as it was and as it became. */
export interface Logged {
  readonly before?: object | undefined;
  readonly after?: object | undefined;
}

/** What can be done to a row. */
export type Change = "insert" | "update" | "delete";
