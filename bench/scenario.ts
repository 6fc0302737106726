// One figure of the report: a load against a server.
import type { LoadResult } from "./load-output.ts";
import type { ServerProcess } from "./server-process.ts";

/** What the ratio of a scenario compares: the server's CPU time per request, the median latency, or requests per second. */
export type Gauge = "cpu" | "p50" | "rate";

/** A load against one server. */
export interface Scenario {
  /** Names the row; unique in a run. */
  readonly name: string;
  readonly server: ServerProcess;
  /** The scenarios that it runs among, round after round. */
  readonly comparison: string;
  /** The scenario that stands for 1.00, of this comparison or another one; absent for those that are it. */
  readonly baseline?: string;
  /** What the ratio compares; `cpu` when absent. */
  readonly gauge?: Gauge;
  /** Whether the server's CPU time is that of these requests alone; true when absent. */
  readonly alone?: boolean;
  load(seconds: number): Promise<LoadResult>;
}
