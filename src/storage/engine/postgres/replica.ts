// One streaming standby that serves reads: only in a snapshot that has everything the primary had when the read began.
import type pg from "pg";
import { desc, sql } from "../../schema/drizzle.ts";
import type { DatabaseLimits } from "../dialect.ts";
import { limitOf } from "../placeholders.ts";
import type { Session } from "../session.ts";
import { newConnections, Pool } from "./connections.ts";
import { type DataVersion, isSameEntry, type LogEntry, noEntry } from "./data-version.ts";
import { newHosts } from "./hosts.ts";
import { closePools, prepareSession, readSnapshot } from "./pool.ts";

/** How long a replica may take until its snapshot is known to be usable, in milliseconds. The primary answers after that. */
const patienceMs = 250;

/** The reason why a replica did not answer. docs/reference/metrics.md explains each. */
export const replicaFailures = ["ahead", "behind", "not_standby", "slow", "unavailable"] as const;
export type ReplicaFailure = (typeof replicaFailures)[number];

/** A replica must not answer a read. */
export class ReplicaUnusable extends Error {
  readonly reason: ReplicaFailure;

  constructor(reason: ReplicaFailure, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Identifies the primary, and a position in its write-ahead log. */
export interface PrimaryPosition {
  readonly system: string;
  readonly position: string;
}

/** Reads the position of a primary. */
export async function readPosition(primary: pg.Pool): Promise<PrimaryPosition> {
  const text =
    "SELECT system_identifier::text AS system, pg_current_wal_flush_lsn()::text AS position FROM pg_control_system()";
  return (await primary.query<PrimaryPosition>(text)).rows[0]!;
}

/** The primary that a replica is compared with. */
export interface ComparedPrimary extends Pick<DataVersion, "hasEntry"> {
  /** Returns a position that new connections to a replica must have: it is after the migrations, which are not in the change log. */
  position(): Promise<PrimaryPosition>;
}

/** A replica. */
export interface Replica {
  /** The host and the port, if the URL has one. */
  readonly name: string;
  /**
   * Runs the body in a snapshot that contains the entry `last`, the end of the primary's change log. Rejects with
   * ReplicaUnusable if the replica has no such snapshot now, and with the errors of the body.
   */
  read<T>(last: LogEntry, body: (session: Session) => Promise<T>): Promise<T>;
  /** Breaks all connections, and with them the reads that have begun. */
  disconnect(): void;
  close(): Promise<void>;
}

/** Creates the replica at the URL of one host. It connects on first use. */
export function newReplica(
  url: string,
  limits: DatabaseLimits,
  sessionOf: (client: pg.PoolClient) => Session,
  primary: ComparedPrimary,
): Replica {
  const hosts = newHosts(url, limits);
  const connections = newConnections(hosts, limits, (silent) => {
    for (const { socket } of silent) socket.destroy();
  });
  const options: pg.PoolConfig = {
    ...connections.options,
    max: limits.poolSize,
    onConnect: async (client) => {
      await prepareSession(client, limits);
      await admit(client, await primary.position());
    },
  };
  const checks = { hosts, writability: { isOutdated: () => false }, hostOf: connections.hostOf };
  const pool = new Pool(options, checks);
  return {
    name: hosts.current().name,
    read: (last, body) =>
      withinPatience((onUsable) =>
        readSnapshot(pool, limits, async (client) => {
          const session = sessionOf(client);
          await requireEntry(session, last, primary);
          onUsable();
          return await body(session);
        }),
      ),
    disconnect: () => connections.destroy(),
    close: () => closePools([pool], connections, limits.closeTimeoutMs),
  };
}

/** Rejects with ReplicaUnusable unless `read` calls its argument in time, which throws it later. */
async function withinPatience<T>(read: (onUsable: () => void) => Promise<T>): Promise<T> {
  const slow = new ReplicaUnusable("slow", `no usable snapshot within ${patienceMs} ms`);
  const { promise: expired, reject } = Promise.withResolvers<never>();
  let hasExpired = false;
  const timer = setTimeout(() => {
    hasExpired = true;
    reject(slow);
  }, patienceMs);
  const result = read(() => {
    if (hasExpired) throw slow;
    clearTimeout(timer);
  });
  try {
    return await Promise.race([result, expired]);
  } finally {
    clearTimeout(timer);
  }
}

interface StandbyRow {
  readonly standby: boolean;
  readonly system: string;
  readonly has_position: boolean | null;
}

/** Checks a new connection. Throws ReplicaUnusable unless it leads to a standby of this primary. */
async function admit(client: pg.ClientBase, { system, position }: PrimaryPosition): Promise<void> {
  const text =
    "SELECT pg_is_in_recovery() AS standby, system_identifier::text AS system, " +
    "pg_last_wal_replay_lsn() >= $1::pg_lsn AS has_position FROM pg_control_system()";
  const [row] = (await client.query<StandbyRow>({ text, values: [position] })).rows;
  if (!row?.standby) throw notStandby();
  if (row.system !== system)
    throw new ReplicaUnusable(
      "not_standby",
      "the server is a standby of another primary: its system identifier differs",
    );
  if (!row.has_position) throw new ReplicaUnusable("behind", `the server has not replayed ${position}`);
}

function notStandby(): ReplicaUnusable {
  return new ReplicaUnusable("not_standby", "the server is not a standby");
}

/** Throws ReplicaUnusable unless the snapshot of a session has the entry `last`, and nothing that the primary does not have. */
async function requireEntry(session: Session, last: LogEntry, primary: ComparedPrimary): Promise<void> {
  const statement = session.prepared("changes.replica_end", (db, { changes }) => {
    const { sequence, requestId, time } = changes;
    const isStandby = sql<boolean>`pg_is_in_recovery()`;
    return db.select({ sequence, requestId, time, isStandby }).from(changes).orderBy(desc(sequence)).limit(limitOf(1));
  });
  const [end = { ...noEntry, isStandby: true }] = await statement.execute();
  if (!end.isStandby) throw notStandby();
  if (isSameEntry(end, last)) return;
  if (end.sequence < last.sequence)
    throw new ReplicaUnusable(
      "behind",
      `the change log ends at ${end.sequence}, that of the primary at ${last.sequence}`,
    );
  // It may follow a former primary, or show a commit that still waits for another synchronous standby.
  if (!(await primary.hasEntry(end)))
    throw new ReplicaUnusable("ahead", `the primary does not have the change ${end.sequence}`);
}
