// Writes OSV records as the offline database of osv-scanner: an archive `ECOSYSTEM/all.zip` for each ecosystem.
import { once } from "node:events";
import { rm } from "node:fs/promises";
import path from "node:path";
import { PassThrough } from "node:stream";
import { archiveEntry, archiveNames, archivesOf, type UnknownEcosystem } from "../../advisories/osv/archives.ts";
import type { OsvRecord } from "../../advisories/osv/write.ts";
import { makeDirectory } from "../../base/directories.ts";
import { isJsonObject } from "../../base/json.ts";
import { type ZipEntry, zipParts } from "../../base/zip-writer.ts";
import { readJson } from "./feed-directory.ts";
import { writeWhole, writeWholeText } from "./whole-file.ts";

/** Names the group and the ecosystems of the archives. Without it, the origin of an archive is unknown. */
const markName = ".gatehouse-osv-scanner.json";

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
      const entry = archiveEntry(record);
      for (const ecosystem of archivesOf(record, onUnknown)) {
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

async function ecosystemsOf(mark: string, group: string): Promise<string[]> {
  const value = await readJson(mark);
  if (!isJsonObject(value) || value.group !== group || !Array.isArray(value.ecosystems)) return [];
  return archiveNames.filter((name) => (value.ecosystems as unknown[]).includes(name));
}
