// `gatehouse advisories import`: reads files one by one, and sends their records in batches.
import { openProgress } from "../../client/progress.ts";
import { newRetries } from "../../client/retry.ts";
import type { Session } from "../../client/session.ts";
import { wrongUsage } from "../../failure.ts";
import { hasLauncher } from "../../launcher.ts";
import { listenForStop } from "../../server-signals.ts";
import { note } from "../../shell.ts";
import { type DocumentOptions, documentsOf, type FoundDocument, itemsOf } from "./documents.ts";
import { type PruneBound, prune } from "./prune.ts";
import { type OpenDocument, openRecordWriter, type RecordWriter, type WriterOptions } from "./record-writer.ts";
import { type Ending, Report } from "./report.ts";
import { filesOf, type SourceFile } from "./sources.ts";

/** The options of the import command. */
export interface ImportOptions extends DocumentOptions, WriterOptions {
  /** The maximum number of deletions of records that the sources no longer have; undefined if none may be deleted. */
  readonly prune: PruneBound | undefined;
}

/** The exit code of a program that was interrupted. */
const interrupted = 130;

/** Imports the files of the paths, and answers the exit code: 1 when a record or a file was left out. */
export async function importAdvisories(
  session: Session,
  paths: readonly string[],
  options: ImportOptions,
): Promise<number> {
  if (paths.includes("")) throw wrongUsage("the path of the files to import is empty");
  const report = new Report();
  const stop = new AbortController();
  using signals = listenForStop(hasLauncher());
  void signals.stopped.then(() => stop.abort());
  let isComplete = false;
  try {
    const writer = await importAll(session, paths, options, report, stop.signal);
    isComplete = writer !== undefined;
    if (writer && options.prune) report.pruning = await prune(session, options, options.prune, writer, report);
  } finally {
    await print(session, report, { isDryRun: options.dryRun, isComplete });
  }
  if (!isComplete) return interrupted;
  return report.isWhole && !(report.pruning && "refused" in report.pruning) ? 0 : 1;
}

/** Answers the writer that has written everything; undefined when the import was interrupted. */
async function importAll(
  session: Session,
  paths: readonly string[],
  options: ImportOptions,
  report: Report,
  stop: AbortSignal,
): Promise<RecordWriter | undefined> {
  const writer = await openRecordWriter(
    session,
    options,
    report,
    newRetries({ signal: stop, onPause: newPauseNotes(session) }),
  );
  using progress = await openProgress(session.shell, "importing", 0, "percent");
  if (progress.isShown) progress.total(await bytesOf(paths));
  const startedAt = performance.now();
  const advance = (bytes: number) => {
    const perSecond = Math.round(report.records / ((performance.now() - startedAt) / 1000));
    progress.advance(bytes, `${report.records} records, ${perSecond}/s`);
  };
  try {
    for await (const source of filesOf(paths)) {
      if (stop.aborted) return undefined;
      if ("reason" in source) report.failFile(source.name, source.reason);
      else if ("extension" in source) report.skipFile(source.extension);
      else if ("what" in source) report.nameFile(source.name, source);
      else await importFile(source, options, writer, report, { stop, advance });
    }
    if (stop.aborted) return undefined;
    await writer.finish();
    return writer;
  } finally {
    await writer.abandon();
  }
}

/** Says why the import waits: once, although several requests may wait for the same reason. */
function newPauseNotes({ shell }: Session): (error: Error, pauseMs: number) => void {
  let quietUntil = 0;
  return ({ message }, pauseMs) => {
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + pauseMs;
    note(shell, `gatehouse: ${message}; the next attempt is in ${pauseMs / 1000} s`);
  };
}

/** The signal that stops an import, and the reporter of its progress. */
interface Course {
  readonly stop: AbortSignal;
  advance(bytes: number): void;
}

async function importFile(
  source: SourceFile,
  options: ImportOptions,
  writer: RecordWriter,
  report: Report,
  { stop, advance }: Course,
): Promise<void> {
  let left = source.bytes;
  report.readFile();
  for await (const found of documentsOf(source, options, report)) {
    if (stop.aborted) return;
    await importDocument(found, writer, report, {
      stop,
      advance(bytes) {
        const done = Math.min(left, bytes);
        left -= done;
        advance(done);
      },
    });
  }
  advance(left);
}

async function importDocument(
  found: FoundDocument,
  writer: RecordWriter,
  report: Report,
  { stop, advance }: Course,
): Promise<void> {
  const document: OpenDocument = { file: found.file, isWhole: true, replaced: 0 };
  const onFailure = () => {
    document.isWhole = false;
  };
  let number = 0;
  for (const { name, record, problems } of itemsOf(found, report, onFailure)) {
    if (stop.aborted) return;
    number++;
    // A record with neither a name nor a path is identified by its number.
    const place = { file: found.file, record: name || (problems.at(-1)?.path ? "" : `record ${number}`) };
    // The last problem of a record that is left out says why.
    for (const problem of record ? problems : problems.slice(0, -1)) report.reportField(place, problem);
    if (record) await writer.add(record, place, document);
    else {
      document.isWhole = false;
      report.leaveOut(place, problems.at(-1) ?? { path: "", rule: "cannot be read" });
    }
    advance(found.bytesOfRecord);
  }
  if (found.document.completes) writer.complete(found.document.completes, document);
}

/** Returns the total size of all files, in bytes. */
async function bytesOf(paths: readonly string[]): Promise<number> {
  let bytes = 0;
  for await (const source of filesOf(paths)) if ("bytes" in source) bytes += source.bytes;
  return bytes;
}

async function print({ shell, output }: Session, report: Report, ending: Ending): Promise<void> {
  if (!output.isPlain) return await output.data(report.data(ending));
  for (const line of report.lines()) note(shell, line);
  shell.stdout.write(`${report.summary(ending)}\n`);
  if (!ending.isComplete && report.hasRecords)
    note(shell, "Run the same command again to continue: records that are stored already are unchanged.");
}
