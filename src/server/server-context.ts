import type { Logger } from "pino";
import type { Clock } from "../base/clock.ts";
import type { Config } from "../config/config.ts";
import type { LiveSecrets } from "../config/live-secrets.ts";
import type { SharedMetrics } from "../observe/metrics.ts";
import type { WorkerGroup } from "./start-hooks.ts";

/** The context that every part of a server is opened with. */
export interface ServerContext {
  /** Identifies this server among those that share its database. All its processes have the same. */
  readonly nodeId: string;
  readonly config: Config;
  /** The secrets of the configuration, which a reload replaces. */
  readonly secrets: LiveSecrets;
  readonly log: Logger;
  readonly clock: Clock;
  /** Aborted when the server begins to drain. */
  readonly draining: AbortSignal;
  /** The metrics of all processes that serve the port; undefined if this is the only one. */
  readonly sharedMetrics: SharedMetrics | undefined;
  /** The processes that serve the port; undefined if this is the only one. */
  readonly group: WorkerGroup | undefined;
}
