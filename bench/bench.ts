// One whole run: data, servers, checks, rounds.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { prepareAdvisories } from "./advisory-data.ts";
import { checkCreated, checkReads } from "./checks.ts";
import { copyData, type Data, prepareData } from "./data.ts";
import { type Gatehouse, startGatehouse, startMeasured } from "./gatehouse.ts";
import type { MicroRow } from "./micro.ts";
import type { Options } from "./options.ts";
import { machine, type ProcessRow, type Results } from "./results.ts";
import { measure } from "./rounds.ts";
import type { Row } from "./row.ts";
import type { Scenario } from "./scenario.ts";
import { advisoryScenarios } from "./scenarios/advisories.ts";
import { etcdScenarios } from "./scenarios/etcd.ts";
import { rawScenarios } from "./scenarios/raw.ts";
import { readScenarios } from "./scenarios/reads.ts";
import { writeScenarios } from "./scenarios/writes.ts";
import { serverCore } from "./server-process.ts";
import { sizeName } from "./sizes.ts";
import { takeSlice } from "./slice.ts";
import { isInstalled } from "./tools.ts";

type Report = (text: string) => void;

/** The size that is written to where it is among those of the run. */
const writtenSize = 100_000;

/** Measures everything that the options ask for. `report` is told of the progress. */
export async function measureAll(options: Options, searchPath: string, report: Report): Promise<Results> {
  const data: Data[] = [];
  for (const size of options.sizes) data.push(await prepareData(size, report));
  const advisories = await prepareAdvisories(report);
  const parts: Record<string, readonly MicroRow[]> = {};
  for (const item of data) parts[sizeName(item.landmarks.groups)] = await measureParts(item);

  await using stack = new AsyncDisposableStack();
  const raw = await rawScenarios(stack);
  const readers: Gatehouse[] = [];
  for (const item of data) readers.push(stack.use(await startMeasured(item)));
  for (const gatehouse of readers) await checkReads(gatehouse);
  const plain = stack.use(await startGatehouse(stack.use(copyData(advisories)), []));
  const filtering = stack.use(await startGatehouse(advisories, []));
  const copied = data.find((item) => item.landmarks.groups === writtenSize) ?? data[0]!;
  const writes = await writeScenarios(copied, stack);
  const measured = [
    ...(await Promise.all(readers.map(readScenarios))).flat(),
    ...advisoryScenarios(filtering, plain, advisories),
    ...writes.scenarios,
    ...(isInstalled("etcd", searchPath) ? await etcdScenarios(stack) : []),
  ];
  const rows = await measure(choose(raw, measured, options.only), options, takeSlice, report);
  for (const { server, created } of writes.written) await checkCreated(server, created);
  return { ...machine(), scenarios: rows, processes: processRows(readers, measured, rows), parts };
}

/** The scenarios that are asked for, and what their ratios are to. */
export function choose(raw: readonly Scenario[], measured: readonly Scenario[], only: readonly string[]): Scenario[] {
  if (only.length === 0) return [...raw, ...measured];
  const chosen = measured.filter(({ name }) => only.some((text) => name.includes(text)));
  const baselines = new Set(chosen.map(({ baseline }) => baseline));
  return [...raw, ...measured.filter((scenario) => chosen.includes(scenario) || baselines.has(scenario.name))];
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
