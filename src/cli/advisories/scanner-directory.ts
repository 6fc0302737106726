// Writes OSV records as the offline database of osv-scanner: an archive `ECOSYSTEM/all.zip` for each ecosystem.
import { once } from "node:events";
import { rm } from "node:fs/promises";
import path from "node:path";
import { PassThrough } from "node:stream";
import { ecosystems } from "../../advisories/ecosystems.ts";
import { publishedRecord } from "../../advisories/osv/published.ts";
import type { OsvRecord } from "../../advisories/osv/write.ts";
import { makeDirectory } from "../../base/directories.ts";
import { isJsonObject } from "../../base/json.ts";
import { fileNameOf, readJson } from "./feed-directory.ts";
import { writeWhole, writeWholeText } from "./whole-file.ts";
import { type ZipEntry, zipParts } from "./zip-writer.ts";

/** Names the group and the ecosystems of the archives. Without it, the origin of an archive is unknown. */
const markName = ".gatehouse-osv-scanner.json";

/** The folder in which osv-scanner looks for records that name a repository and no package. */
const repositories = "GIT";

/** Reports the ecosystem of a record for which osv-scanner has no archive. */
export type UnknownEcosystem = (ecosystem: string, id: string) => void;

/**
 * Writes the archives of a group. Archives that an earlier export of the same group wrote, and that have no records any more, are
 * removed. Each archive is replaced once all records are read.
 */
export async function writeScannerDirectory(
  directory: string,
  group: string,
  records: AsyncIterable<OsvRecord>,
  onUnknown: UnknownEcosystem,
): Promise<{ readonly removed: number }> {
  makeDirectory(directory, 0o777);
  const mark = path.join(directory, markName);
  const before = await ecosystemsOf(mark, group);
  const archives = new Map<string, Archive>();
  try {
    for await (const record of records) {
      const entry = { name: fileNameOf(record.id), content: JSON.stringify(publishedRecord(record)) };
      for (const ecosystem of foldersOf(record, onUnknown)) {
        const archive = archives.get(ecosystem) ?? openArchive(path.join(directory, ecosystem));
        archives.set(ecosystem, archive);
        await archive.add(entry);
      }
    }
  } catch (error) {
    await Promise.all([...archives.values()].map((archive) => archive.abandon(error)));
    throw error;
  }
  await Promise.all([...archives.values()].map((archive) => archive.finish()));
  const gone = before.filter((ecosystem) => !archives.has(ecosystem));
  for (const ecosystem of gone) await rm(path.join(directory, ecosystem, "all.zip"), { force: true });
  await writeWholeText(mark, `${JSON.stringify({ group, ecosystems: [...archives.keys()].sort() })}\n`);
  return { removed: gone.length };
}

/** An archive that is being written. */
interface Archive {
  add(entry: ZipEntry): Promise<void>;
  finish(): Promise<void>;
  /** Removes the written files. Does not reject. */
  abandon(error: unknown): Promise<void>;
}

function openArchive(folder: string): Archive {
  makeDirectory(folder, 0o777);
  const entries = new PassThrough({ objectMode: true });
  const written = writeWhole(path.join(folder, "all.zip"), zipParts(entries as AsyncIterable<ZipEntry>));
  // The caller gets the error from the next method that it calls.
  entries.on("error", () => {});
  written.catch(() => entries.destroy());
  return {
    async add(entry) {
      if (entries.destroyed) return await written;
      if (!entries.write(entry)) await drainOrClose(entries);
    },
    async finish() {
      entries.end();
      await written;
    },
    async abandon(error) {
      entries.destroy(error instanceof Error ? error : new Error(String(error)));
      await written.catch(() => {});
    },
  };
}

/** Waits until the stream takes more, or has ended because nothing can be written. */
async function drainOrClose(stream: PassThrough): Promise<void> {
  const settled = new AbortController();
  const { signal } = settled;
  const events = [once(stream, "drain", { signal }), once(stream, "close", { signal })];
  await Promise.race(events).finally(() => settled.abort());
}

/** Returns the ecosystems of a record without their releases, as the scanner names its folders. */
function foldersOf({ affected, id }: OsvRecord, onUnknown: UnknownEcosystem): Set<string> {
  const found = new Set<string>();
  for (const item of Array.isArray(affected) ? affected.filter(isJsonObject) : []) {
    const named = isJsonObject(item.package) ? item.package.ecosystem : undefined;
    const [ecosystem = ""] = typeof named === "string" ? named.split(":") : [];
    if (ecosystems.includes(ecosystem)) found.add(ecosystem);
    else if (ecosystem === "") found.add(repositories);
    else onUnknown(ecosystem, id);
  }
  return found;
}

async function ecosystemsOf(mark: string, group: string): Promise<string[]> {
  const value = await readJson(mark);
  if (!isJsonObject(value) || value.group !== group || !Array.isArray(value.ecosystems)) return [];
  return [...ecosystems, repositories].filter((name) => (value.ecosystems as unknown[]).includes(name));
}
