// Whether this server is ready for requests, as probes and the health service tell it.
import { unavailable } from "../aip/errors.ts";
import type { Database } from "../storage/database.ts";
import { StorageReadOnly, StorageUnavailable } from "../storage/engine/errors.ts";

/** The state that balancers ask for. */
export interface Readiness {
  /** Whether the server is about to stop. It still serves: balancers have to learn of it before it does not. */
  isStopping(): boolean;
  /** Rejects when the server is about to stop, or its database does not answer. */
  check(): Promise<void>;
  /** From now on the server is about to stop. */
  announceStop(): void;
}

/** The readiness of a server on a database. */
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

/** What a failed check means, for anybody to read. Errors of drivers are left out: they name hosts and users. */
export function readinessProblem(error: unknown): string {
  if (error instanceof StorageReadOnly) return `not ready to write, reads are served: ${error.message}`;
  return `not ready: ${error instanceof StorageUnavailable ? error.message : "the database fails"}`;
}
