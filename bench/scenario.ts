// One figure of the report: a load against a server.
import type { LoadResult } from "./load-output.ts";
import type { ServerProcess } from "./server-process.ts";

/** The quantity that a scenario's ratio compares: the server's CPU time per request, the median latency, or requests per second. */
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
  /** The quantity that the ratio compares; `cpu` if absent. */
  readonly gauge?: Gauge;
  /** Whether the server's CPU time is that of these requests alone; true when absent. */
  readonly alone?: boolean;
  /** Whether a quick run leaves it out, because it rarely changes unless others do; false when absent. */
  readonly isOnlyInFullRuns?: boolean;
  load(seconds: number): Promise<LoadResult>;
}

/**
 * Returns the scenarios that are asked for, with their baselines: those of a full or a quick run, or, if `only` is not empty, all whose
 * names contain one of its texts.
 */
export function choose(
  scenarios: readonly Scenario[],
  { only, isQuick }: { readonly only: readonly string[]; readonly isQuick: boolean },
): Scenario[] {
  const isAsked = ({ name, isOnlyInFullRuns = false }: Scenario) =>
    only.length === 0 ? !(isQuick && isOnlyInFullRuns) : only.some((text) => name.includes(text));
  const wanted = new Set<string>();
  const byName = new Map(scenarios.map((scenario) => [scenario.name, scenario]));
  for (const scenario of scenarios.filter(isAsked))
    for (let at: Scenario | undefined = scenario; at; at = byName.get(at.baseline ?? "")) wanted.add(at.name);
  return scenarios.filter(({ name }) => wanted.has(name));
}
