// One figure of the report: a load against a server, measured in every round.
import type { LoadResult } from "./load-output.ts";
import { anonymousMemoryOf, cpuMicrosOf } from "./proc.ts";
import type { ServerProcess } from "./server-process.ts";
import { median } from "./statistics.ts";

/** What the ratio of a scenario compares: the server's CPU time per request, or the median latency. */
export type Gauge = "cpu" | "p50";

/** A load against one server. */
export interface Scenario {
  /** Names the row; unique in a run. */
  readonly name: string;
  readonly server: ServerProcess;
  /** What it is compared with: scenarios of one comparison alternate, seconds apart. */
  readonly comparison: string;
  /** The scenario that stands for 1.00, of this comparison or another one; absent for those that are it. */
  readonly baseline?: string;
  /** What the ratio compares; `cpu` when absent. */
  readonly gauge?: Gauge;
  /** Whether the server's CPU time is that of these requests alone; true when absent. */
  readonly alone?: boolean;
  load(seconds: number): Promise<LoadResult>;
}

/** What one round measured. */
interface Sample {
  readonly cpuMicros: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly memoryMib: number;
}

/** One row of the report: medians over the rounds. */
export interface Row extends Sample {
  readonly name: string;
  /** How fast the scenario is, where its baseline is 1: the median of what each round gave. Null without baseline. */
  readonly ratio: number | null;
  readonly baseline: string | null;
}

/**
 * A scenario is warm when a second of it takes no less than this part of the CPU time of the second before, and so many requests
 * were answered at all: what a creation runs is still being compiled after ten thousand.
 */
const stillFaster = 0.95;
const warmRequests = 20_000;
const maxWarmUpSeconds = 10;

/**
 * Measures one comparison after the other. In each, every scenario runs once per round, so that what disturbs the machine for a
 * while disturbs all that are compared; and so do the baselines that belong to other comparisons, whose rows are made there.
 */
export async function measure(
  scenarios: readonly Scenario[],
  rounds: number,
  seconds: number,
  report: (text: string) => void,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [comparison, own] of Map.groupBy(scenarios, (scenario) => scenario.comparison)) {
    report(comparison);
    const samples = await alternate([...baselinesElsewhere(own, scenarios), ...own], rounds, seconds);
    rows.push(...own.map((scenario) => rowOf(scenario, samples)));
  }
  return rows;
}

function baselinesElsewhere(own: readonly Scenario[], all: readonly Scenario[]): Scenario[] {
  const baselines = new Set(own.map(({ baseline }) => baseline));
  return all.filter((scenario) => baselines.has(scenario.name) && !own.includes(scenario));
}

async function alternate(
  scenarios: readonly Scenario[],
  rounds: number,
  seconds: number,
): Promise<ReadonlyMap<string, readonly Sample[]>> {
  const samples = new Map<string, Sample[]>(scenarios.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round++) {
    for (const scenario of scenarios) {
      await warmUp(scenario, round === 1 ? warmRequests : 0);
      samples.get(scenario.name)?.push(await sampleOf(scenario, seconds));
    }
  }
  return samples;
}

/**
 * Compiled code and caches as in a server that has run for a while: the compilers share its core while they are at work. In
 * every round anew, since what lies idle meanwhile may leave the caches of the processor and of the system.
 */
async function warmUp(scenario: Scenario, leastRequests: number): Promise<void> {
  let before = Number.POSITIVE_INFINITY;
  let answered = 0;
  for (let second = 0; second < maxWarmUpSeconds; second++) {
    const { cpuMicros, requestsPerSecond } = await sampleOf(scenario, 1);
    answered += requestsPerSecond;
    if (answered >= leastRequests && !(cpuMicros < before * stillFaster)) return;
    before = cpuMicros;
  }
}

async function sampleOf({ name, server, load, alone = true }: Scenario, seconds: number): Promise<Sample> {
  const before = cpuMicrosOf(server.pid);
  const { requests, failed, seconds: took, p50Ms, p99Ms } = await load(seconds);
  const cpu = cpuMicrosOf(server.pid) - before;
  if (failed > 0 || requests === 0) throw new Error(`${name}: ${failed} of ${requests} requests failed`);
  return {
    cpuMicros: alone ? cpu / requests : Number.NaN,
    requestsPerSecond: requests / took,
    p50Ms,
    p99Ms,
    memoryMib: anonymousMemoryOf(server.pid),
  };
}

function rowOf(scenario: Scenario, samples: ReadonlyMap<string, readonly Sample[]>): Row {
  const { name, baseline, gauge = "cpu" } = scenario;
  const own = samples.get(name) ?? [];
  const base = baseline === undefined ? undefined : samples.get(baseline);
  if (baseline !== undefined && !base) throw new Error(`${name}: its baseline ${baseline} is not measured`);
  const column = gauge === "cpu" ? "cpuMicros" : "p50Ms";
  const middle = (key: keyof Sample) => median(own.map((sample) => sample[key]));
  return {
    name,
    cpuMicros: middle("cpuMicros"),
    requestsPerSecond: middle("requestsPerSecond"),
    p50Ms: middle("p50Ms"),
    p99Ms: middle("p99Ms"),
    memoryMib: Math.max(...own.map((sample) => sample.memoryMib)),
    ratio: base ? median(own.map((sample, round) => base[round]![column] / sample[column])) : null,
    baseline: baseline ?? null,
  };
}
