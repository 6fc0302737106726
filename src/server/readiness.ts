// Whether the server is ready for requests, for probes and the health service.
import { unavailable } from "../aip/errors.ts";
import type { Database } from "../storage/database.ts";
import { StorageReadOnly, StorageUnavailable } from "../storage/engine/errors.ts";

/** The readiness of the server. */
export interface Readiness {
  /** Whether the server is about to stop. It still serves until load balancers have noticed. */
  isStopping(): boolean;
  /** Rejects if the server is about to stop, or if the database does not respond. */
  check(): Promise<void>;
  /** Marks the server as about to stop. */
  announceStop(): void;
}

/** Creates the readiness of a server. */
export function newReadiness(database: Pick<Database, "check">): Readiness {
  let isStopping = false;
  return {
    isStopping: () => isStopping,
    check: () => (isStopping ? Promise.reject(unavailable("the server is about to stop")) : database.check()),
    announceStop() {
      isStopping = true;
    },
  };
}

/** Returns the public message of a failed check. Driver errors are left out: they contain hosts and users. */
export function readinessProblem(error: unknown): string {
  if (error instanceof StorageReadOnly) return `not ready to write, reads are served: ${error.message}`;
  return `not ready: ${error instanceof StorageUnavailable ? error.message : "the database fails"}`;
}
