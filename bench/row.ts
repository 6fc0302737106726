// Computes the report's row of a scenario from the slices of all rounds.
import type { Gauge, Scenario } from "./scenario.ts";
import type { Slice } from "./slice.ts";
import { mean, median } from "./statistics.ts";

/** One row of the report: medians over the rounds of the means over their slices; of memory the most. */
export interface Row extends Slice {
  readonly name: string;
  /** The speed of the scenario relative to its baseline, which is 1: the median of the rounds' ratios. Null without a baseline. */
  readonly ratio: number | null;
  readonly baseline: string | null;
}

/** Slices of a scenario, each between two of its baseline: those are one more. Without a baseline there are none of it. */
export interface Alternation {
  readonly scenario: Scenario;
  readonly baseline?: Scenario;
  readonly own: readonly Slice[];
  readonly base: readonly Slice[];
}

const columns = { cpu: "cpuMicros", p50: "p50Ms", rate: "requestsPerSecond" } as const satisfies Record<
  Gauge,
  keyof Slice
>;

/** Makes the row of a scenario of what was measured in each round of its comparison. */
export function rowOf(scenario: Scenario, rounds: readonly (readonly Alternation[])[]): Row {
  const { name, baseline, gauge = "cpu" } = scenario;
  const slices = rounds.map((round) => slicesOf(scenario, round));
  const middle = (key: keyof Slice) => median(slices.map((own) => mean(own.map((slice) => slice[key]))));
  const ratios = () => rounds.flatMap((round) => alternationsOf(scenario, round).map((each) => ratioOf(each, gauge)));
  return {
    name,
    cpuMicros: middle("cpuMicros"),
    requestsPerSecond: middle("requestsPerSecond"),
    p50Ms: middle("p50Ms"),
    p99Ms: middle("p99Ms"),
    memoryMib: Math.max(...slices.flat().map(({ memoryMib }) => memoryMib)),
    ratio: baseline === undefined ? null : median(ratios()),
    baseline: baseline ?? null,
  };
}

/**
 * Returns the speed of a scenario relative to its baseline, which is 1: the median over its slices of their ratio to the mean of the two
 * neighbouring slices. If the machine becomes slower or faster, both change alike. The median ignores a disturbed slice, which a sum
 * would count.
 */
export function ratioOf({ own, base }: Pick<Alternation, "own" | "base">, gauge: Gauge): number {
  const column = columns[gauge];
  const times = own.map((slice, at) => mean([base[at]![column], base[at + 1]![column]]) / slice[column]);
  // More requests per second are faster, and more time is slower.
  return median(gauge === "rate" ? times.map((ratio) => 1 / ratio) : times);
}

/**
 * Returns those between slices of its baseline; of what is only a baseline, those between slices of the scenarios that are compared with
 * it.
 */
function slicesOf(scenario: Scenario, round: readonly Alternation[]): Slice[] {
  const own = alternationsOf(scenario, round);
  if (own.length > 0) return own.flatMap((each) => each.own);
  return round.flatMap(({ baseline, base }) => (baseline === scenario ? base : []));
}

function alternationsOf(scenario: Scenario, round: readonly Alternation[]): Alternation[] {
  return round.filter((each) => each.scenario === scenario);
}
