// The order in which scenarios run: a machine that is shared has phases of seconds and of minutes, and no ratio is to show them.
import type { Extent } from "./options.ts";
import { type Alternation, type Row, rowOf } from "./row.ts";
import type { Scenario } from "./scenario.ts";
import type { Slice } from "./slice.ts";

type TakeSlice = (scenario: Scenario) => Promise<Slice>;

/** The scenarios that alternate: one, and its baseline if it has one. */
type Pair = Pick<Alternation, "scenario" | "baseline">;

/**
 * A scenario is warm when a slice of it takes no less than this part of the CPU time of the slice before, and so many requests
 * were answered at all: what a creation runs is still being compiled after ten thousand.
 */
const stillFaster = 0.95;
const warmRequests = 20_000;

/**
 * A scenario counts as warm again when its cost is at most this multiple of its warm cost. Caches that the server lost make it dearer.
 */
const nearlyAsFast = 1.2;

/**
 * Measures one comparison after the other. In each round every scenario of a comparison alternates with its baseline, slice by
 * slice: a disturbance of some seconds then slows down both. Rounds lie apart: a disturbance of only one of the two then
 * spoils one round.
 */
export async function measure(
  scenarios: readonly Scenario[],
  { rounds, slices, maxWarmUpSlices }: Extent,
  takeSlice: TakeSlice,
  report: (text: string) => void,
): Promise<Row[]> {
  const rows: Row[] = [];
  const warmUp = newWarmUp(takeSlice, maxWarmUpSlices);
  for (const [comparison, own] of Map.groupBy(scenarios, (scenario) => scenario.comparison)) {
    report(comparison);
    const pairs = pairsOf(own, scenarios);
    const measured: Alternation[][] = Array.from({ length: rounds }, () => []);
    for (const round of measured) {
      for (const pair of pairs) {
        await warmUp(pair);
        round.push(await alternate(pair, slices, takeSlice));
      }
    }
    rows.push(...own.map((scenario) => rowOf(scenario, measured)));
  }
  return rows;
}

/** A baseline is measured next to the scenarios that are compared with it, or alone if none of them runs. */
function pairsOf(own: readonly Scenario[], all: readonly Scenario[]): Pair[] {
  const needed = new Set(own.map(({ baseline }) => baseline));
  return own.flatMap((scenario): Pair[] => {
    const { name, baseline: wanted } = scenario;
    if (wanted === undefined) return needed.has(name) ? [] : [{ scenario }];
    const baseline = all.find((each) => each.name === wanted);
    if (!baseline) throw new Error(`${name}: its baseline ${wanted} is not measured`);
    return [{ scenario, baseline }];
  });
}

/** Baseline, scenario, baseline, …, baseline: each slice of the scenario has one of the baseline at either side. */
async function alternate(pair: Pair, slices: number, takeSlice: TakeSlice): Promise<Alternation> {
  const { scenario, baseline } = pair;
  const [own, base]: [Slice[], Slice[]] = [[], []];
  while (own.length < slices) {
    if (baseline) base.push(await takeSlice(baseline));
    own.push(await takeSlice(scenario));
  }
  if (baseline) base.push(await takeSlice(baseline));
  return { ...pair, own, base };
}

/**
 * Compiled code and caches as in a server that has run for a while: the compilers share its core while they are at work. What
 * was warm once gets a slice or more that are not counted after others have run, since what lies idle may leave the caches of the
 * server, of the processor and of the system; between slices that alternate it lies idle too briefly for that.
 */
function newWarmUp(takeSlice: TakeSlice, maxSlices: number): (pair: Pair) => Promise<void> {
  /** The cost per request of each scenario while warm. */
  const warm = new Map<Scenario, number>();
  let latest: readonly Scenario[] = [];
  return async ({ scenario, baseline }) => {
    const pair = baseline ? [baseline, scenario] : [scenario];
    for (const each of pair.filter((one) => !latest.includes(one)))
      warm.set(each, await runUntilWarm(each, warm.get(each), maxSlices, takeSlice));
    latest = pair;
  };
}

/** Answers what a request took in the end. `known` is what it took when the scenario was warm before, if it was. */
async function runUntilWarm(
  scenario: Scenario,
  known: number | undefined,
  maxSlices: number,
  takeSlice: TakeSlice,
): Promise<number> {
  const leastRequests = known === undefined ? warmRequests : 0;
  let before = Number.POSITIVE_INFINITY;
  let answered = 0;
  for (let slice = 0; slice < maxSlices; slice++) {
    const { cpuMicros, requestsPerSecond } = await takeSlice(scenario);
    answered += requestsPerSecond;
    const isKnown = known !== undefined && cpuMicros <= known * nearlyAsFast;
    if (isKnown || (answered >= leastRequests && !(cpuMicros < before * stillFaster))) return cpuMicros;
    before = cpuMicros;
  }
  return before;
}
