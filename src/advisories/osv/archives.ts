// The archives in which osv-scanner looks for records: one for each ecosystem, with a file for each record.
import { hash } from "node:crypto";
import { isJsonObject } from "../../base/json.ts";
import type { ZipEntry } from "../../base/zip-writer.ts";
import { ecosystems } from "../ecosystems.ts";
import { publishedRecord } from "./published.ts";
import type { OsvRecord } from "./write.ts";

/** The archive of records that name a repository and no package. */
const repositories = "GIT";

/** The names of all archives: the ecosystems without their releases, and `GIT`. */
export const archiveNames: readonly string[] = [...ecosystems, repositories];

/** Reports the ecosystem of a record for which osv-scanner has no archive. */
export type UnknownEcosystem = (ecosystem: string, id: string) => void;

/** Returns the names of the archives that have a record. */
export function archivesOf({ affected, id }: OsvRecord, onUnknown: UnknownEcosystem): Set<string> {
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

/** Returns the file of a record. osv-scanner ignores a record with a member that the published schema does not have. */
export function archiveEntry(record: OsvRecord): ZipEntry {
  return { name: fileNameOf(record.id), content: JSON.stringify(publishedRecord(record)) };
}

/** The maximum length of a name, in characters; file systems allow 255 bytes. */
const maxName = 200;

/** Returns the file name of a record. Ids are untrusted: a name must not leave the directory, be too long, or replace the index. */
export function fileNameOf(id: string): string {
  const name = encodeURIComponent(id).replace(/^\./, "%2E");
  if (name.length > maxName) return `${name.slice(0, maxName)}~${hash("sha256", id).slice(0, 16)}.json`;
  return `${name === "all" ? "%61ll" : name}.json`;
}
