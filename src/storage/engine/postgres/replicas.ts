// Decides which server answers a read: a replica that is up to date, or the primary.
import pg from "pg";
import { onceLoaded } from "../../../base/lazy.ts";
import { hostsOf } from "../../../base/postgres-url.ts";
import type { DatabaseLimits, ReplicaStatus } from "../dialect.ts";
import { StorageDamaged, StorageUnavailable } from "../errors.ts";
import type { Session } from "../session.ts";
import type { DataVersion, LogEntry } from "./data-version.ts";
import {
  newReplica,
  type Replica,
  type ReplicaFailure,
  ReplicaUnusable,
  readPosition,
  replicaFailures,
} from "./replica.ts";

/** In milliseconds. */
const times = {
  /** How long a replica is not asked after a failure: a tenth of the time since it began to fail, within these limits. */
  minPause: 100,
  maxPause: 1000,
  /** How long a replica may lag before that is reported. Under load, each commit leaves it behind for a moment. */
  lag: 10_000,
  /** How often a replica is reported at most. */
  report: 60_000,
};

/** Runs several reads in one snapshot. */
type Read = <T>(body: (session: Session) => Promise<T>) => Promise<T>;

/** Reads from replicas. */
export interface ReplicaReader {
  /** Call it for every new connection to the primary: it may be another server. */
  forget(): void;
  /** Runs the body in a snapshot, that of a replica if possible. The body may run a second time, on the primary. */
  readonly read: Read;
  readonly status: ReplicaStatus;
  close(): Promise<void>;
}

/** A primary, and how to read from it. */
interface Primary {
  readonly read: Read;
  readonly sessionOf: (client: pg.PoolClient) => Session;
  readonly version: DataVersion;
  readonly pool: pg.Pool;
}

/** Opens the replicas of a URL, which may name several hosts; undefined without a URL. */
export function openReplicas(
  url: string | undefined,
  limits: DatabaseLimits,
  { read, sessionOf, version, pool }: Primary,
): ReplicaReader | undefined {
  if (url === undefined) return undefined;
  let position = onceLoaded(() => readPosition(pool));
  const compared = { hasEntry: version.hasEntry, position: () => position() };
  const replicas = hostsOf(url).map((host) => newReplica(host.url, limits, sessionOf, compared));
  return {
    ...newReader(replicas, version.lastEntry, read),
    forget() {
      // A read that has begun may show, and put into a cache, what the primary lost in a failover.
      for (const replica of replicas) replica.disconnect();
      position = onceLoaded(() => readPosition(pool));
    },
  };
}

/**
 * Creates the reader. `lastEntry` returns the end of the primary's change log from a look that is sent after the call:
 * a replica with this entry has every write that was acknowledged before.
 */
function newReader(
  replicas: readonly Replica[],
  lastEntry: () => Promise<LogEntry>,
  readPrimary: Read,
): Omit<ReplicaReader, "forget"> {
  const listeners: Parameters<ReplicaStatus["onChange"]>[0][] = [];
  const tracked = replicas.map((replica) => ({
    replica,
    health: newHealth((failure) => {
      for (const listener of listeners) listener(replica.name, failure);
    }),
  }));
  const fallbacks = Object.fromEntries(replicaFailures.map((reason) => [reason, 0])) as Record<ReplicaFailure, number>;
  let reads = 0;
  let turn = 0;

  function choose() {
    for (const _ of tracked) {
      const each = tracked[turn++ % tracked.length]!;
      if (each.health.mayAsk()) return each;
    }
    return undefined;
  }

  return {
    async read(body) {
      const chosen = choose();
      if (!chosen) {
        fallbacks[tracked[0]!.health.reason()]++;
        return await readPrimary(body);
      }
      const last = await lastEntry();
      try {
        const result = await chosen.replica.read(last, body);
        chosen.health.succeeded();
        reads++;
        return result;
      } catch (error) {
        // Such as NOT_FOUND: the body read that in a usable snapshot.
        if (!isDatabaseError(error)) throw error;
        fallbacks[chosen.health.failed(error)]++;
      }
      return await readPrimary(body);
    },
    status: {
      get reads() {
        return reads;
      },
      fallbacks,
      onChange: (listener) => void listeners.push(listener),
    },
    async close() {
      await Promise.all(replicas.map((replica) => replica.close()));
    },
  };
}

function isDatabaseError(error: unknown): error is Error {
  return [ReplicaUnusable, StorageUnavailable, StorageDamaged, pg.DatabaseError].some((kind) => error instanceof kind);
}

/** Decides when to try a failed replica again, and which of its failures to log. */
function newHealth(report: (failure: { reason: ReplicaFailure; message: string } | undefined) => void) {
  let failingSince: number | undefined;
  let retryAt = Number.NEGATIVE_INFINITY;
  let reason: ReplicaFailure = "unavailable";
  let isReported = false;
  let reportedAt = Number.NEGATIVE_INFINITY;

  function pauseMs(now: number): number {
    const isLagging = reason === "ahead" || reason === "behind";
    const share = (now - (failingSince ?? now)) / 10;
    return Math.min(times.maxPause, isLagging ? share : Math.max(times.minPause, share));
  }

  return {
    /** Returns whether to ask the replica. While it fails, one read at a time asks. */
    mayAsk(): boolean {
      const now = performance.now();
      if (failingSince === undefined) return true;
      if (now < retryAt) return false;
      retryAt = now + pauseMs(now);
      return true;
    },
    reason: () => reason,
    succeeded(): void {
      failingSince = undefined;
      if (isReported) report(undefined);
      isReported = false;
    },
    /** Notes a failure, and returns its reason. */
    failed(error: Error): ReplicaFailure {
      const now = performance.now();
      const cause = error instanceof ReplicaUnusable ? error : error.cause;
      reason = cause instanceof ReplicaUnusable ? cause.reason : "unavailable";
      failingSince ??= now;
      retryAt = now + pauseMs(now);
      const isLagging = reason === "ahead" || reason === "behind";
      const isWorth = !isLagging || now - failingSince > times.lag;
      if (!isReported && isWorth && now - reportedAt > times.report) {
        isReported = true;
        reportedAt = now;
        report({ reason, message: messageOf(cause ?? error) });
      }
      return reason;
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
