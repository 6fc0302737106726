// The callbacks of a caller of `startServer` during the start.

import type { Tokens } from "../authn/tokens.ts";
import type { Policy } from "../authz/policy.ts";
import type { Clock } from "../base/clock.ts";
import type { SharedMetrics } from "../observe/metrics.ts";
import type { Method, MethodTable } from "../pipeline/method.ts";
import type { Database } from "../storage/database.ts";
import type { Endpoints } from "../transport/pages/endpoints.ts";

/** A server before it listens. */
export interface UnopenedServer {
  readonly database: Database;
  readonly tokens: Tokens;
  readonly policy: Policy;
}

/** A server with its methods, before it listens. */
export interface ComposedServer extends UnopenedServer {
  /** The methods of all versions. */
  readonly methods: MethodTable;
}

/** The processes that serve one port, as one of them sees them. */
export interface WorkerGroup {
  /** Whether this process executes the writes of all if they share a SQLite file. */
  readonly isWriter: boolean;
  /** The key by which the processes of the group know each other. */
  readonly key: string;
}

/** Steps of a start, and the state that a worker shares with the others. If a step rejects, the start fails and nothing listens. */
export interface StartHooks {
  /** The metrics of all processes that serve the port; absent if this is the only one. */
  readonly sharedMetrics?: SharedMetrics | undefined;
  /** The group of processes that serve the port; absent if this is the only one. */
  readonly group?: WorkerGroup | undefined;
  /** The time by which terms of role bindings begin and end; that of the database if absent. */
  readonly termClock?: Clock | undefined;
  /** Runs before anything is written to the database. */
  readonly admit?: ((database: Database) => Promise<void>) | undefined;
  /** Runs just before the server listens, to write what the first request must find. */
  readonly prepare?: ((unopened: UnopenedServer) => Promise<void>) | undefined;
  /** Returns a method to serve in place of one. */
  readonly surround?: ((method: Method) => Method) | undefined;
  /** Returns endpoints to serve besides the usual ones. */
  readonly endpoints?: ((server: ComposedServer) => Endpoints) | undefined;
  /** Whether the key for registry tokens is opened by the first request that needs it: to make one takes as long as a start. */
  readonly opensRegistryKeyLate?: boolean | undefined;
}
