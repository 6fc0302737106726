// The suite `peers`: OpenFGA, SpiceDB and etcd next to Gatehouse, on one core and on all.
import { copyData, type DataStore, prepareData } from "./data.ts";
import { type Options, UsageError } from "./options.ts";
import { startEtcd } from "./peers/etcd.ts";
import { startTree } from "./peers/gatehouse.ts";
import { startOpenfga } from "./peers/openfga.ts";
import type { Peer } from "./peers/peer.ts";
import { startSpicedb } from "./peers/spicedb.ts";
import { machine, type Results } from "./results.ts";
import { measure } from "./rounds.ts";
import { choose, type Scenario } from "./scenario.ts";
import { peerScenarios } from "./scenarios/peers.ts";
import type { Cores } from "./server-process.ts";
import { takeSlice } from "./slice.ts";
import { isInstalled } from "./tools.ts";

const starts = { openfga: startOpenfga, spicedb: startSpicedb } as const;

/** Measures the peers whose programs are on the search path, and reports those that are not. */
export async function measurePeers(
  options: Options,
  searchPath: string,
  report: (text: string) => void,
): Promise<Results> {
  const isThere = (program: string) => {
    if (isInstalled(program, searchPath)) return true;
    report(`skipping ${program}, which is not on the PATH`);
    return false;
  };
  const programs = (Object.keys(starts) as (keyof typeof starts)[]).filter(isThere);
  const hasEtcd = isThere("etcd");
  if (programs.length === 0 && !hasEtcd)
    throw new UsageError(
      "--peers: neither openfga nor spicedb nor etcd is on the PATH; bench/README.md says how to build them",
    );
  const store: DataStore = { directory: options.dataDir, report };
  const data = await prepareData(options.sizes[0]!, store);
  await using stack = new AsyncDisposableStack();
  const scenarios: Scenario[] = [];
  for (const cores of ["one", "all"] as const satisfies Cores[]) {
    const gatehouse = stack.use(await startTree(stack.use(copyData(data)), cores));
    const peers: Peer[] = [];
    const started = <P extends Peer>(peer: P): P => {
      stack.use(peer.server);
      peers.push(peer);
      return peer;
    };
    for (const program of programs) started(await starts[program](cores));
    const etcd = hasEtcd ? started(await startEtcd(cores)) : undefined;
    scenarios.push(...peerScenarios(cores, gatehouse, peers, etcd));
  }
  const rows = await measure(choose(scenarios, options), options.extent, takeSlice, report);
  return { ...machine(), scenarios: rows, processes: [], parts: {} };
}
