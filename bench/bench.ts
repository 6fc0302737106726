// The suites `groups` and `scale`: data, servers, checks, rounds.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { prepareAdvisories } from "./advisory-data.ts";
import { checkCreated, checkReads } from "./checks.ts";
import { copyData, type Data, type DataStore, prepareData } from "./data.ts";
import { type Gatehouse, startGatehouse, startMeasured } from "./gatehouse.ts";
import type { MicroRow } from "./micro.ts";
import type { Options } from "./options.ts";
import { machine, type ProcessRow, type Results } from "./results.ts";
import { measure } from "./rounds.ts";
import type { Row } from "./row.ts";
import { choose, type Scenario } from "./scenario.ts";
import { advisoryScenarios } from "./scenarios/advisories.ts";
import { rawHttp, rawScenarios } from "./scenarios/raw.ts";
import { growingReads, otherReads } from "./scenarios/reads.ts";
import { type Written, writeScenarios } from "./scenarios/writes.ts";
import { serverCore } from "./server-process.ts";
import { sizeName } from "./sizes.ts";
import { takeSlice } from "./slice.ts";

type Report = (text: string) => void;

/** The size that is written to where it is among those of the run. */
const writtenSize = 100_000;

/** How often a start is measured: the first ones after other work take up to twice as long as those that follow. */
const measuredStarts = { quick: 3, full: 5 } as const;

/** Measures groups in several sizes, and in the suite `groups` advisories and writes. `report` is told of the progress. */
export async function measureGroups(options: Options, _searchPath: string, report: Report): Promise<Results> {
  const store: DataStore = { directory: options.dataDir, report };
  const data: Data[] = [];
  for (const size of options.sizes) data.push(await prepareData(size, store));
  const parts: Record<string, readonly MicroRow[]> = {};
  if (options.only.length === 0) {
    report("parts in process");
    for (const item of data) parts[sizeName(item.landmarks.groups)] = await measureParts(item);
  }
  await using stack = new AsyncDisposableStack();
  const raw = await rawScenarios(stack);
  const readers: Gatehouse[] = [];
  report("starts");
  for (const item of data)
    readers.push(stack.use(await startMeasured(item, measuredStarts[options.isQuick ? "quick" : "full"])));
  for (const gatehouse of readers) await checkReads(gatehouse);
  const isScale = options.suite === "scale";
  const reads = readsOf(readers, isScale);
  const others = isScale ? { scenarios: [], written: [] } : await otherScenarios(data, store, stack);
  const limits = isScale ? raw.filter(({ name }) => name === rawHttp) : raw;
  const measured = choose([...limits, ...reads, ...others.scenarios], options);
  const rows = await measure(measured, options.extent, takeSlice, report);
  for (const { server, created } of others.written) await checkCreated(server, created);
  return { ...machine(), scenarios: rows, processes: processRows(readers, measured, rows), parts };
}

/**
 * Returns the read scenarios. Reads whose cost grows with the data run at all sizes; others run at the largest size, and a quick run
 * skips the smallest.
 */
function readsOf(readers: readonly Gatehouse[], isScale: boolean): Scenario[] {
  const [smallest, largest] = [readers[0]!, readers.at(-1)!];
  return readers.flatMap((reader) => {
    const hasOthers = !isScale && (reader !== smallest || reader === largest);
    const scenarios = [...growingReads(reader), ...(hasOthers ? otherReads(reader) : [])];
    return scenarios.filter((each) => !each.isOnlyInFullRuns || reader === smallest || reader === largest);
  });
}

/** Lists of advisories, and writes. */
async function otherScenarios(
  data: readonly Data[],
  store: DataStore,
  stack: AsyncDisposableStack,
): Promise<{ scenarios: Scenario[]; written: Written[] }> {
  const advisories = await prepareAdvisories(store);
  const plain = stack.use(await startGatehouse(stack.use(copyData(advisories)), []));
  const filtering = stack.use(await startGatehouse(advisories, []));
  const copied = data.find((item) => item.landmarks.groups === writtenSize) ?? data[0]!;
  const { scenarios, written } = await writeScenarios(copied, stack);
  return { scenarios: [...advisoryScenarios(filtering, plain, advisories), ...scenarios], written };
}

/** Runs in-process.ts on the core of the servers. */
async function measureParts({ directory, landmarks }: Data): Promise<MicroRow[]> {
  const program = fileURLToPath(new URL("in-process.ts", import.meta.url));
  const args = ["-c", String(serverCore), process.execPath, program, directory, JSON.stringify(landmarks)];
  const { stdout } = await promisify(execFile)("taskset", args);
  return JSON.parse(stdout) as MicroRow[];
}

function processRows(
  readers: readonly Gatehouse[],
  scenarios: readonly Scenario[],
  rows: readonly Row[],
): ProcessRow[] {
  return readers.map((gatehouse) => {
    const names = new Set(scenarios.filter(({ server }) => server === gatehouse).map(({ name }) => name));
    const loaded = rows.filter(({ name }) => names.has(name)).map(({ memoryMib }) => memoryMib);
    const { firstAnswerMs, idleMib } = gatehouse;
    const name = `Gatehouse ${sizeName(gatehouse.landmarks.groups)}`;
    return { name, firstAnswerMs, idleMib, loadedMib: Math.max(idleMib, ...loaded) };
  });
}
