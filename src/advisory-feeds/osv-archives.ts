// The archives that osv-scanner reads: GET /gatehouse/osv/groups/GROUP_UID/ECOSYSTEM/all.zip, and ecosystems.txt, their list.

import { ecosystemProblem } from "../advisories/ecosystems.ts";
import { exportedAdvisories } from "../advisories/exported.ts";
import { archiveEntry, archiveNames, archivesOf } from "../advisories/osv/archives.ts";
import { type OsvRecord, osvRecordsOf } from "../advisories/osv/write.ts";
import type { Losses } from "../advisories/writing.ts";
import { invalidField, notFound } from "../aip/errors.ts";
import { type ZipEntry, zipParts } from "../base/zip-writer.ts";
import { decodeSegment, type ExportOptions, parseOptions } from "./export-request.ts";
import type { Feed, FeedInput, ParseFeed } from "./feed.ts";

/** The path prefix of archives, which is that of the API of OSV.dev for a group. */
export const osvGroupsPath = "/gatehouse/osv/groups/";

/** Returns whether a path is one of an archive or of their list, and not a method of the API of OSV.dev. */
export function isOsvArchive(path: string): boolean {
  return /\/(?:all\.zip|ecosystems\.txt)$/.test(path) && !path.includes("/v1/");
}

/** Parses the request of an archive, or of the list of archives. */
export const parseOsvArchive: ParseFeed = (path, query) => {
  const rest = path.slice(osvGroupsPath.length);
  const [, uid, name] = /^(.+?)\/(?:([^/]+)\/all\.zip|ecosystems\.txt)$/.exec(rest) ?? [];
  if (uid === undefined) throw notFound("vulnerabilities.gatehouse/Archive", rest);
  const group = decodeSegment(uid, "group");
  const archive = name === undefined ? undefined : decodeSegment(name, "ecosystem");
  if (archive !== undefined) checkArchive(archive);
  const options = parseOptions(query);
  const problem = ecosystemProblem(options.ecosystem);
  if (problem !== "") throw invalidField("ecosystem", problem);
  const shared = { group, format: "osv", slot: "streamed", description: { group, archive, options } } as const;
  if (archive === undefined)
    return {
      ...shared,
      contentType: "text/plain; charset=utf-8",
      write: (input) => listArchives(input, group, options),
    };
  const write: Feed["write"] = (input) => zipParts(entriesOf(input, group, options, archive));
  return { ...shared, contentType: "application/zip", write };
};

function checkArchive(name: string): void {
  if (archiveNames.includes(name)) return;
  throw invalidField("ecosystem", ecosystemProblem(name) || "must not have a release: an archive has all of them");
}

/** Yields the files of an archive. */
async function* entriesOf(
  input: FeedInput,
  group: string,
  options: ExportOptions,
  archive: string,
): AsyncGenerator<ZipEntry> {
  for await (const record of recordsOf(input, group, options))
    if (archivesOf(record, newReport(input.losses)).has(archive)) yield archiveEntry(record);
}

/** Yields the names of the archives that have records, one on a line, in the order in which they are found. */
async function* listArchives(input: FeedInput, group: string, options: ExportOptions): AsyncGenerator<string> {
  const found = new Set<string>();
  for await (const record of recordsOf(input, group, options))
    for (const name of archivesOf(record, newReport(input.losses))) {
      if (!found.has(name)) yield `${name}\n`;
      found.add(name);
    }
}

function recordsOf({ source, time, losses }: FeedInput, id: string, options: ExportOptions): AsyncGenerator<OsvRecord> {
  return osvRecordsOf(exportedAdvisories(source, "osv"), { ...options, id, time }, losses);
}

function newReport(losses: Losses) {
  return (ecosystem: string, id: string) => losses.add(`packages of ${JSON.stringify(ecosystem)}`, id);
}
