// The unit of measuring: one second of a scenario.
import { anonymousMemoryOf, cpuMicrosOf } from "./proc.ts";
import type { Scenario } from "./scenario.ts";

/** The measurements of one second of load. CPU time is per request, and NaN if it also covers other requests. */
export interface Slice {
  readonly cpuMicros: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly memoryMib: number;
}

/** As short as wrk can run: the shorter, the less the machine changes between a slice and its neighbours. */
const sliceSeconds = 1;

/** A machine that others use may stand still for longer than a slice. */
const maxEmptySlices = 5;

/** Runs a scenario for one slice, again if the load generator had no time for a request. Throws when a request fails. */
export async function takeSlice(scenario: Scenario): Promise<Slice> {
  const { name, server, load, alone = true } = scenario;
  for (let empty = 0; empty < maxEmptySlices; empty++) {
    const before = cpuMicrosOf(server.pid);
    const { requests, failed, seconds, p50Ms, p99Ms } = await load(sliceSeconds);
    const cpu = cpuMicrosOf(server.pid) - before;
    if (failed > 0) throw new Error(`${name}: ${failed} of ${requests} requests failed`);
    if (requests === 0) continue;
    return {
      cpuMicros: alone ? cpu / requests : Number.NaN,
      requestsPerSecond: requests / seconds,
      p50Ms,
      p99Ms,
      memoryMib: anonymousMemoryOf(server.pid),
    };
  }
  throw new Error(`${name}: no request was answered in ${maxEmptySlices} slices`);
}
