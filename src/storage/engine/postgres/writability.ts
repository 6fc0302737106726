// Whether the server behind the address accepts writes. After a failover an address leads to another server, and connections
// that were made before still lead to the old one.
import type pg from "pg";
import { newReader } from "../../../base/shared-reader.ts";
import { StorageReadOnly, StorageUnavailable } from "../errors.ts";

/** For how long a connection that is read-only serves reads before a new one is made, and one attempt to find a writable server counts. */
const limits = { readOnlyMs: 1000, attemptMs: 100 };

/** What is known of the connections of a pool. */
export interface Writability {
  /** Checks a new connection. Rejects with StorageUnavailable where it leads to a standby. */
  admit(client: pg.ClientBase): Promise<void>;
  /** Whether a connection is to be dropped rather than used. */
  isOutdated(client: pg.ClientBase): boolean;
  /** Says that a server has refused a write, or would: no connection of now is used for writing any more. */
  refused(): void;
  /** Rejects with StorageReadOnly unless writes can be made, as far as is known; makes a new connection to find out. */
  require(): Promise<void>;
}

/** The check of a connection, whose result has one row. */
export const writableQuery =
  "SELECT pg_is_in_recovery() AS standby, current_setting('transaction_read_only') = 'on' AS read_only";

/** What the check finds. */
export interface WritableRow {
  readonly standby: boolean;
  readonly read_only: boolean;
}

/** Makes it; `connect` makes the pool open a connection and give it back. */
export function newWritability(connect: () => Promise<void>): Writability {
  const admittedAt = new WeakMap<pg.ClientBase, number>();
  const readOnly = new WeakSet<pg.ClientBase>();
  /** Connections that are older lead to a server that refused a write. */
  let outdatedBefore = Number.NEGATIVE_INFINITY;
  let isReadOnly = false;

  async function attempt(): Promise<void> {
    outdatedBefore = performance.now();
    await connect();
  }
  const attempts = newReader(attempt, { maxAgeMs: limits.attemptMs, patienceMs: limits.attemptMs });

  return {
    async admit(client) {
      const { rows } = await client.query<WritableRow>(writableQuery);
      refuseStandby(rows[0]);
      const now = performance.now();
      admittedAt.set(client, now);
      if (rows[0]?.read_only) readOnly.add(client);
      // The address leads to another server now, or the server accepts writes again.
      else if (isReadOnly) outdatedBefore = now;
      isReadOnly = rows[0]?.read_only ?? false;
    },
    isOutdated(client) {
      const at = admittedAt.get(client) ?? Number.NEGATIVE_INFINITY;
      return at < outdatedBefore || (readOnly.has(client) && performance.now() - at > limits.readOnlyMs);
    },
    refused() {
      isReadOnly = true;
      outdatedBefore = performance.now();
      attempts.invalidate();
    },
    async require() {
      if (isReadOnly) await attempts.current();
      if (isReadOnly) throw new StorageReadOnly("the database server accepts no writes");
    },
  };
}

/** Throws StorageUnavailable for a standby: it may lag behind for any time, so that a revocation would not be seen on it. */
export function refuseStandby(row: WritableRow | undefined): void {
  if (row?.standby) throw new StorageUnavailable("the database server is a standby");
}
