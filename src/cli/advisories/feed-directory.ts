// Writes OSV records as a feed directory: a file per record, and the index all.json.
import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { fileNameOf } from "../../advisories/osv/archives.ts";
import { makeDirectory } from "../../base/directories.ts";
import { isJsonObject } from "../../base/json.ts";
import { writeWhole, writeWholeText } from "./whole-file.ts";

/** An entry of the index. */
interface IndexEntry {
  readonly id: string;
  readonly modified: string;
}

const indexName = "all.json";

/** Marks the directory as the feed of a group. Without it, the origin of the other files is unknown. */
const markName = ".gatehouse-feed.json";

/**
 * Writes the records of a group. Unchanged files are not rewritten. A record that is no longer in the feed is removed
 * if the directory is marked as the feed of the same group. Files that no export wrote always stay.
 */
export async function writeFeed(
  directory: string,
  group: string,
  records: AsyncIterable<IndexEntry>,
): Promise<{ readonly removed: number }> {
  makeDirectory(directory, 0o777);
  const index = path.join(directory, indexName);
  const mark = path.join(directory, markName);
  const isOurs = hasGroup(await readJson(mark), group);
  const before = isOurs ? idsOf(await readJson(index)) : [];
  const entries: IndexEntry[] = [];
  for await (const record of records) {
    const { id, modified } = record;
    entries.push({ id, modified });
    await writeIfChanged(path.join(directory, fileNameOf(id)), `${JSON.stringify(record, null, 2)}\n`);
  }
  // Removed before the index is written, so an interrupted export is completed by the next one.
  const kept = new Set(entries.map(({ id }) => fileNameOf(id)));
  const gone = before.map(fileNameOf).filter((name) => !kept.has(name));
  for (const name of gone) await rm(path.join(directory, name), { force: true });
  await writeWhole(index, indexText(entries));
  await writeWholeText(mark, `${JSON.stringify({ group })}\n`);
  return { removed: gone.length };
}

async function* indexText(entries: readonly IndexEntry[]): AsyncGenerator<string> {
  let before = "[\n";
  for (const entry of entries) {
    yield `${before}  ${JSON.stringify(entry)}`;
    before = ",\n";
  }
  yield entries.length === 0 ? "[]\n" : "\n]\n";
}

async function writeIfChanged(file: string, text: string): Promise<void> {
  if ((await readFile(file, "utf8").catch(() => undefined)) !== text) await writeWholeText(file, text);
}

/** Returns the JSON in a file; undefined if the file is missing or not JSON. */
export async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined;
  }
}

function hasGroup(mark: unknown, group: string): boolean {
  return isJsonObject(mark) && mark.group === group;
}

function idsOf(index: unknown): string[] {
  const entries: readonly unknown[] = Array.isArray(index) ? index : [];
  return entries.flatMap((entry) => (isJsonObject(entry) && typeof entry.id === "string" ? [entry.id] : []));
}
