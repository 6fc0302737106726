// Generated data directories, kept between runs: the same seed, sizes and programs give the same data.
import { hash } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { generate, landmarksFile } from "./generate.ts";
import type { Landmarks } from "./population.ts";

/** A data directory and what is in it. */
export interface Data {
  readonly directory: string;
  readonly landmarks: Landmarks;
}

const seed = "gatehouse";
const cache = path.join(tmpdir(), "gatehouse-bench");
/** What decides about the contents of a data directory. */
const sources = [
  ...[
    "advisory-data.ts",
    "advisory-population.ts",
    "advisory-texts.ts",
    "../src/storage/vulnerabilities/advisory-terms.ts",
  ],
  ...[
    "generate.ts",
    "population.ts",
    "random.ts",
    "../src/storage/schema/tables/iam.ts",
    "../src/storage/collection/entries.ts",
  ],
];
const migrations = fileURLToPath(new URL("../src/storage/schema/migrations/sqlite/", import.meta.url));

/** The data directory with so many groups; generated when it is not there. `report` is told of the progress. */
export async function prepareData(groups: number, report: (text: string) => void): Promise<Data> {
  return await prepareDataAt(String(groups), groups, report);
}

/** The same in a directory of its own, for what else is to be in it. */
export async function prepareDataAt(name: string, groups: number, report: (text: string) => void): Promise<Data> {
  const directory = path.join(cache, `${name}-${version()}`);
  if (!existsSync(landmarksFile(directory))) {
    forgetOthers(name);
    report(`generating ${groups} groups in ${directory}`);
    await generate(directory, { groups, seed }, (rows) => {
      if (rows % 100_000 === 0) report(`  ${rows} rows`);
    });
  }
  return { directory, landmarks: JSON.parse(readFileSync(landmarksFile(directory), "utf8")) as Landmarks };
}

/** A copy that may be written to, until it is disposed of. */
export function copyData({ directory, landmarks }: Data): Data & Disposable {
  const copy = mkdtempSync(path.join(tmpdir(), "gatehouse-bench-copy-"));
  cpSync(directory, copy, { recursive: true });
  return {
    directory: copy,
    landmarks,
    [Symbol.dispose]: () => rmSync(copy, { recursive: true, force: true }),
  };
}

function version(): string {
  const files = [
    ...sources.map((source) => fileURLToPath(new URL(source, import.meta.url))),
    ...readdirSync(migrations)
      .filter((name) => name.endsWith(".sql"))
      .sort()
      .map((name) => path.join(migrations, name)),
  ];
  return hash("sha256", files.map((file) => readFileSync(file, "utf8")).join("\0"), "hex").slice(0, 12);
}

/** Removes data of this name that another version made, and what an interrupted run left. */
function forgetOthers(name: string): void {
  if (!existsSync(cache)) return;
  for (const other of readdirSync(cache).filter((entry) => entry.startsWith(`${name}-`)))
    rmSync(path.join(cache, other), { recursive: true, force: true });
}
