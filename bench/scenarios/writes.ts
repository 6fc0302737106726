// Durable creation of groups, what sharing commits gains, and what reads suffer from it.
import { fileURLToPath } from "node:url";
import { copyData, type Data } from "../data.ts";
import { type Gatehouse, startGatehouse } from "../gatehouse.ts";
import { createGroups } from "../groups-load.ts";
import type { LoadResult } from "../load-output.ts";
import type { Scenario } from "../scenario.ts";
import { durableWrites, rawHttp } from "./raw.ts";
import { getRest } from "./reads.ts";

/** Clients that create at once, and those that read meanwhile. */
const writers = 32;
const readers = 4;
const readsDuringWrites = "reads during writes";

const commitEach = fileURLToPath(new URL("../servers/commit-each.ts", import.meta.url));

/** The number of groups that a server has created so far, as counted by the load generator. */
export interface Written {
  readonly server: Gatehouse;
  created: number;
}

/**
 * Creates over REST with 32 clients, in commits that writes share and in one for each; reads with 4 clients, alone and
 * meanwhile. Each server has a copy of the data. They end with the stack.
 */
export async function writeScenarios(
  data: Data,
  stack: AsyncDisposableStack,
): Promise<{ scenarios: Scenario[]; written: Written[] }> {
  const shared = await startOnCopy(data, stack);
  const each = await startOnCopy(data, stack, commitEach);
  const create = createRest(shared, `CreateGroup REST, ${writers} clients`, rawHttp);
  // In the background: time that one generator waits for the other would count as the server's.
  const meanwhile = createRest(shared, create.name, rawHttp, true);
  // On the server that is written to, what the writes leave to be done would fall on the reads alone.
  const { server: unwritten } = await startOnCopy(data, stack);
  const alone = getRest(unwritten, `GetGroup REST, ${readers} clients`, readers, readsDuringWrites);
  const concurrent = getRest(shared.server, `${alone.name}, ${writers} create`, readers, readsDuringWrites);
  const scenarios: Scenario[] = [
    create,
    { ...createRest(each, `${create.name}, a commit each`, create.name), isOnlyInFullRuns: true },
    alone,
    {
      ...concurrent,
      baseline: alone.name,
      gauge: "p50",
      alone: false,
      load: async (seconds) => {
        const [read, created] = await Promise.all([concurrent.load(seconds), meanwhile.load(seconds)]);
        return { ...read, failed: read.failed + created.failed };
      },
    },
  ];
  return { scenarios, written: [shared, each] };
}

async function startOnCopy(data: Data, stack: AsyncDisposableStack, program?: string): Promise<Written> {
  const copy = stack.use(copyData(data));
  return { server: stack.use(await startGatehouse(copy, [], program)), created: 0 };
}

function createRest(written: Written, name: string, baseline: string, isBackground = false): Scenario {
  const { server } = written;
  const create = createGroups(server, { connections: writers, isBackground });
  return {
    name,
    server,
    comparison: durableWrites,
    baseline,
    async load(seconds): Promise<LoadResult> {
      const result = await create(seconds);
      written.created += result.requests - result.failed;
      return result;
    },
  };
}
