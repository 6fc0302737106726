// `gatehouse advisories export`: the advisories of a group, in the formats that scanners read.

import { once } from "node:events";
import {
  AdvisoryRecordsService,
  type AdvisoryStatements,
  RecordView,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { type ExportFormat, type ExportSource, exportedAdvisories } from "../../advisories/exported.ts";
import type { OsvRecord } from "../../advisories/osv/write.ts";
import { writerOf } from "../../advisories/writers.ts";
import type { Losses, WriteOptions } from "../../advisories/writing.ts";
import { fromTimestamp } from "../../aip/timestamps.ts";
import { errorMessage } from "../../base/system-error.ts";
import { openProgress } from "../client/progress.ts";
import type { Session } from "../client/session.ts";
import { escapeJson } from "../escape.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import { note, type Shell } from "../shell.ts";
import { writeWhole } from "./whole-file.ts";

/** Options of an export. */
export interface ExportOptions {
  /** The uid of the group. */
  readonly group: string;
  readonly format: ExportFormat;
  /** The path of the output; undefined for standard output. */
  readonly output: string | undefined;
  /** The layout of the output; undefined for a document, or for the feed of a directory. */
  readonly layout: "osv-scanner" | undefined;
  /** The publisher. */
  readonly author: string;
  /** The OSV ecosystem of packages without one; package URLs get its distribution. */
  readonly ecosystem: string;
}

/** The maximum page size. */
const pageSize = 200;

/** Exports the advisories of a group. */
export async function exportAdvisories(session: Session, options: ExportOptions): Promise<void> {
  const { group, format, output, author, ecosystem } = options;
  if (output === "") throw wrongUsage("--output: the path is empty");
  const { source, time } = await openSource(session, group);
  const losses = newLossReport();
  let count = 0;
  {
    using progress = await openProgress(session.shell, "exporting", 0, "done");
    const read = async function* (): AsyncGenerator<AdvisoryStatements> {
      count = 0;
      for await (const each of exportedAdvisories(source, format)) {
        if (each.advisory) progress.total(++count);
        yield each;
        if (each.advisory) progress.advance();
      }
    };
    const counted = { [Symbol.asyncIterator]: read };
    await write(session.shell, options, counted, { id: group, author, ecosystem, time }, losses);
  }
  note(session.shell, `${count} ${count === 1 ? "advisory" : "advisories"} exported`);
  for (const line of losses.lines()) note(session.shell, `left out, because ${format} cannot express it: ${line}`);
}

/** Reads from the server. The first page contains the group's last change time, which some formats start with. */
async function openSource(session: Session, parent: string): Promise<{ source: ExportSource; time: number }> {
  const client = await session.client(AdvisoryRecordsService);
  const statements: ExportSource["statements"] = (pageToken) =>
    client.listAdvisoryStatements({ parent, pageSize, pageToken });
  const first = await statements("");
  return {
    time: first.changeTime ? fromTimestamp(first.changeTime) : 0,
    source: {
      statements: (pageToken) => (pageToken === "" ? Promise.resolve(first) : statements(pageToken)),
      withdrawnRecords: (pageToken) =>
        client.listAdvisoryRecords({
          parent,
          recursive: true,
          withdrawn: true,
          view: RecordView.FULL,
          pageSize,
          pageToken,
        }),
    },
  };
}

/** Writes to standard output or a file. For OSV, a path without .json is a directory. */
async function write(
  shell: Shell,
  { group, format, output, layout }: ExportOptions,
  advisories: AsyncIterable<AdvisoryStatements>,
  options: WriteOptions,
  losses: LossReport,
): Promise<void> {
  const parts = () => writerOf(format)(advisories, options, losses);
  if (output === undefined) return await print(shell, parts());
  try {
    if (layout === undefined && (format !== "osv" || /\.json$/i.test(output))) return await writeWhole(output, parts());
    const { osvRecordsOf } = await import("../../advisories/osv/write.ts");
    const records = osvRecordsOf(advisories, options, losses);
    const { removed, what } = await writeDirectory(output, group, layout, records, losses);
    if (removed > 0) note(shell, `${removed} ${what}${removed === 1 ? "" : "s"} removed from the feed`);
  } catch (error) {
    // Errors of the server are not about the file.
    if (!(error instanceof Error && "syscall" in error)) throw error;
    throw new CommandFailure(`${output} cannot be written: ${errorMessage(error, output)}`);
  }
}

/** Writes a directory in the layout. Returns the number of removed files, and their kind. */
async function writeDirectory(
  output: string,
  group: string,
  layout: ExportOptions["layout"],
  records: AsyncIterable<OsvRecord>,
  losses: LossReport,
): Promise<{ readonly removed: number; readonly what: string }> {
  if (layout === undefined) {
    const { writeFeed } = await import("./feed-directory.ts");
    return { ...(await writeFeed(output, group, records)), what: "record" };
  }
  const { writeScannerDirectory } = await import("./scanner-directory.ts");
  const onUnknown = (ecosystem: string, id: string) => losses.add(`packages of ${JSON.stringify(ecosystem)}`, id);
  return { ...(await writeScannerDirectory(output, group, records, onUnknown)), what: "archive" };
}

/** Waits for slow readers: the export may be larger than memory. */
async function print({ stdout }: Shell, parts: AsyncIterable<string>): Promise<void> {
  for await (const part of parts) if (!stdout.write(escapeJson(part))) await once(stdout, "drain");
}

/** Counts losses by kind. */
interface LossReport extends Losses {
  /** Returns a line per kind, the most frequent first. */
  lines(): string[];
}

/** Creates an empty report. */
function newLossReport(): LossReport {
  const kinds = new Map<string, { readonly where: string; count: number }>();
  return {
    add(what, where) {
      const known = kinds.get(what);
      if (known) known.count++;
      else kinds.set(what, { where, count: 1 });
    },
    lines: () =>
      [...kinds]
        .sort(([, a], [, b]) => b.count - a.count)
        .map(([what, { where, count }]) => `${what} (${count}, such as in ${where})`),
  };
}
