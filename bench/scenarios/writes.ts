// Durable creation of groups, and what reads suffer from it.
import type { Gatehouse } from "../gatehouse.ts";
import { type LoadResult, loadHttp1 } from "../load.ts";
import type { Scenario } from "../scenario.ts";
import { rawHttp } from "./raw.ts";
import { getRest } from "./reads.ts";

/** Clients that create at once, and those that read meanwhile. */
const writers = 32;
const readers = 4;

/** How many groups were created so far, as the load generator counts. */
export interface CreateCount {
  created: number;
}

/** Creates over REST with 32 clients; reads with 4 clients, alone and meanwhile. The data must be a copy. */
export function writeScenarios(gatehouse: Gatehouse, count: CreateCount): Scenario[] {
  const { port, landmarks, authorization } = gatehouse;
  const body = JSON.stringify({ name: "made by the benchmark", description: "One of many" });
  const requests = [{ method: "POST", path: `/iam/v2beta1/groups/${landmarks.emptyUid}`, body }];
  const headers = { authorization, "content-type": "application/json" };
  const create = async (seconds: number): Promise<LoadResult> => {
    const result = await loadHttp1({ port, connections: writers, headers, requests }, seconds);
    count.created += result.requests - result.failed;
    return result;
  };
  const alone = getRest(gatehouse, `GetGroup REST, ${readers} clients`, readers);
  return [
    { name: `CreateGroup REST, ${writers} clients`, server: gatehouse, baseline: rawHttp, load: create },
    alone,
    {
      name: `GetGroup REST, ${readers} clients, ${writers} create`,
      server: gatehouse,
      baseline: alone.name,
      gauge: "p50",
      alone: false,
      load: async (seconds) => {
        const [read, created] = await Promise.all([alone.load(seconds), create(seconds)]);
        return { ...read, failed: read.failed + created.failed };
      },
    },
  ];
}
