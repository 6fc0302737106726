// A directory of OSV records in the form of a feed: a file for each record, and all.json, which lists them.
import { hash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { makeDirectory } from "../../base/directories.ts";
import { isJsonObject } from "../../base/json.ts";
import { writeWhole, writeWholeText } from "./whole-file.ts";

/** What the index lists of a record. */
interface IndexEntry {
  readonly id: string;
  readonly modified: string;
}

const indexName = "all.json";

/** Tells which group a directory is the feed of. Without it nobody knows who has written the other files. */
const markName = ".gatehouse-feed.json";

/**
 * Writes the records of a group. Files whose content is the same stay as they are. A record that was in the feed and is not any more
 * is removed if the directory is known to be the feed of the same group; files that no export has written always stay.
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
  // Before the index, which has to name them until they are gone: an export that is interrupted is completed by the next one.
  const kept = new Set(entries.map(({ id }) => fileNameOf(id)));
  const gone = before.map(fileNameOf).filter((name) => !kept.has(name));
  for (const name of gone) await rm(path.join(directory, name), { force: true });
  await writeWhole(index, indexText(entries));
  await writeWholeText(mark, `${JSON.stringify({ group })}\n`);
  return { removed: gone.length };
}

/** The longest name, in characters: file systems take 255 bytes. */
const maxName = 200;

/** Ids come from others: none may lead out of the directory, be too long for it, or stand for the index. */
function fileNameOf(id: string): string {
  const name = encodeURIComponent(id).replace(/^\./, "%2E");
  if (name.length > maxName) return `${name.slice(0, maxName)}~${hash("sha256", id).slice(0, 16)}.json`;
  return `${name === "all" ? "%61ll" : name}.json`;
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

/** What a file holds; undefined when it is not there, or no JSON. */
async function readJson(file: string): Promise<unknown> {
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
