// Tracks whether the database server accepts writes. After a failover the address leads to another server, while older
// connections still lead to the old one.
import type pg from "pg";
import { newReader } from "../../../base/shared-reader.ts";
import { StorageReadOnly, StorageUnavailable } from "../errors.ts";

/**
 * How long a read-only connection serves reads before it is replaced, and how long the result of one attempt to find a
 * writable server is reused, in milliseconds.
 */
const limits = { readOnlyMs: 1000, attemptMs: 100 };

/** Tracks which connections of a pool accept writes. */
export interface Writability {
  /** Checks a new connection. Rejects with StorageUnavailable if it leads to a standby. */
  admit(client: pg.ClientBase): Promise<void>;
  /** Returns whether to drop a connection instead of using it. */
  isOutdated(client: pg.ClientBase): boolean;
  /** Reports that a server rejected a write, or would. Existing connections are no longer used for writes. */
  refused(): void;
  /** Rejects with StorageReadOnly if the server is known to be read-only and a new connection confirms it. */
  require(): Promise<void>;
}

/** The query that checks a connection; it returns one row. */
export const writableQuery =
  "SELECT pg_is_in_recovery() AS standby, current_setting('transaction_read_only') = 'on' AS read_only";

/** The row of the check. */
export interface WritableRow {
  readonly standby: boolean;
  readonly read_only: boolean;
}

/** Creates a tracker. `connect` opens a connection of the pool and releases it. */
export function newWritability(connect: () => Promise<void>): Writability {
  const admittedAt = new WeakMap<pg.ClientBase, number>();
  const readOnly = new WeakSet<pg.ClientBase>();
  /** Connections made before this time lead to a server that rejected a write. */
  let outdatedBefore = Number.NEGATIVE_INFINITY;
  let isReadOnly = false;

  async function attempt(): Promise<void> {
    outdatedBefore = performance.now();
    await connect();
  }
  const attempts = newReader(attempt, { maxAgeMs: limits.attemptMs, patienceMs: limits.attemptMs });

  function refused(): void {
    isReadOnly = true;
    outdatedBefore = performance.now();
    attempts.invalidate();
  }

  return {
    async admit(client) {
      const { rows } = await client.query<WritableRow>(writableQuery);
      refuseStandby(rows[0]);
      watchReadOnly(client, refused);
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
    refused,
    async require() {
      if (isReadOnly) await attempts.current();
      if (isReadOnly) throw new StorageReadOnly("the database server accepts no writes");
    },
  };
}

/** Calls `onReadOnly` when the server reports that it has become read-only, as PostgreSQL 14 and later do at once. */
function watchReadOnly(client: pg.ClientBase, onReadOnly: () => void): void {
  const { connection } = client as unknown as { readonly connection: pg.Connection };
  connection.on("parameterStatus", ({ parameterName, parameterValue }) => {
    if (parameterValue === "on" && /^(?:in_hot_standby|default_transaction_read_only)$/.test(parameterName))
      onReadOnly();
  });
}

/** Throws StorageUnavailable for a standby: it may lag behind, so a revocation could go unnoticed on it. */
export function refuseStandby(row: WritableRow | undefined): void {
  if (row?.standby) throw new StorageUnavailable("the database server is a standby");
}
