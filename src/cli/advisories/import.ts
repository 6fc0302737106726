// `gatehouse advisories import`: reads files one by one, and sends what they hold in batches.
import { toBinary } from "@bufbuild/protobuf";
import {
  AdvisoryImportService,
  type ImportedAdvisory,
  ImportedAdvisorySchema,
  ImportOutcome,
} from "../../../gen/gatehouse/vulnerabilities/v1/advisory_import_pb.ts";
import { openProgress } from "../client/progress.ts";
import type { Session } from "../client/session.ts";
import { note, printable } from "../shell.ts";
import { parseText } from "./document-text.ts";
import { type FormatName, readDocument } from "./formats.ts";
import { toRecord } from "./record.ts";
import { filesOf, reasonOf, type SourceFile } from "./sources.ts";

/** What a person asked for. */
export interface ImportOptions {
  /** The uid of the group. */
  readonly group: string;
  readonly format: FormatName | "auto";
  /** Who wrote the advisories; what the documents say when it is empty. */
  readonly author: string;
  readonly dryRun: boolean;
}

/** A request holds at most so many advisories, and so many bytes: less than the server takes. */
const batch = { items: 100, bytes: 1024 * 1024, itemBytes: 3 * 1024 * 1024 };

/** Requests under way: the next files are read while the server writes. */
const atOnce = 2;

/** Problems that are told of one by one. */
const toldProblems = 1000;

const words = {
  [ImportOutcome.CREATED]: "created",
  [ImportOutcome.UPDATED]: "updated",
  [ImportOutcome.UNCHANGED]: "unchanged",
} as const;

/** Imports the files of the paths, and answers the exit code: 1 when something was left out. */
export async function importAdvisories(
  session: Session,
  paths: readonly string[],
  options: ImportOptions,
): Promise<number> {
  const report = newReport();
  try {
    await importAll(session, paths, options, report);
  } finally {
    report.print(session, options.dryRun);
  }
  return report.problems === 0 ? 0 : 1;
}

async function importAll(session: Session, paths: readonly string[], options: ImportOptions, report: Report) {
  const sender = await openSender(session, options, report);
  let files = 0;
  for await (const _ of filesOf(paths)) files++;
  using progress = await openProgress(session.shell, "importing", files);
  for await (const file of filesOf(paths)) {
    if ("reason" in file) report.problem(file.name, file.reason);
    else for (const record of await recordsOf(file, options, report)) await sender.add(file.name, record);
    progress.advance();
  }
  await sender.finish();
}

/** The advisories of a file. What is wrong is reported, and the rest is answered. */
async function recordsOf(file: SourceFile, options: ImportOptions, report: Report): Promise<ImportedAdvisory[]> {
  const records: ImportedAdvisory[] = [];
  try {
    const document = parseText(file.name, await file.readText(), options.format);
    for (const part of readDocument(document, options.format, options)) {
      try {
        records.push(...part.read().map(toRecord));
      } catch (error) {
        report.problem(part.name === "" ? file.name : `${file.name}: ${part.name}`, reasonOf(error));
      }
    }
  } catch (error) {
    report.problem(file.name, reasonOf(error));
  }
  return records;
}

interface Sender {
  add(file: string, record: ImportedAdvisory): Promise<void>;
  finish(): Promise<void>;
}

interface Item {
  readonly file: string;
  readonly record: ImportedAdvisory;
}

async function openSender(session: Session, { group, dryRun }: ImportOptions, report: Report): Promise<Sender> {
  const client = await session.client(AdvisoryImportService);
  const underWay = new Set<Promise<void>>();
  let items: Item[] = [];
  let bytes = 0;

  async function send(sent: readonly Item[]): Promise<void> {
    const advisories = sent.map(({ record }) => record);
    const { results } = await client.importAdvisories({ parent: group, advisories, dryRun });
    results.forEach(({ outcome, error }, i) => {
      const { file, record } = sent[i]!;
      const word = words[outcome as keyof typeof words];
      if (word) report.count(word);
      else report.problem(`${file}: ${record.advisoryId}`, error);
    });
  }

  async function flush(): Promise<void> {
    if (items.length === 0) return;
    const sending = send(items).finally(() => underWay.delete(sending));
    // Whoever waits for it hears of a failure.
    sending.catch(() => {});
    underWay.add(sending);
    [items, bytes] = [[], 0];
    if (underWay.size >= atOnce) await Promise.race(underWay);
  }

  return {
    async add(file, record) {
      const size = toBinary(ImportedAdvisorySchema, record).length;
      if (size > batch.itemBytes) {
        report.problem(`${file}: ${record.advisoryId}`, `it is larger than ${batch.itemBytes} bytes`);
        return;
      }
      // Two of one id must not be written at the same time.
      const isKnown = items.some((item) => item.record.advisoryId === record.advisoryId);
      if (isKnown || items.length === batch.items || bytes + size > batch.bytes) await flush();
      items.push({ file, record });
      bytes += size;
    },
    async finish() {
      await flush();
      await Promise.all(underWay);
    },
  };
}

type Report = ReturnType<typeof newReport>;

function newReport() {
  const counts = { created: 0, updated: 0, unchanged: 0 };
  const told: string[] = [];
  let problems = 0;
  return {
    get problems() {
      return problems;
    },
    count(word: keyof typeof counts) {
      counts[word]++;
    },
    problem(where: string, reason: string) {
      problems++;
      if (told.length < toldProblems) told.push(`${where}: ${reason}`);
    },
    print({ shell }: Session, dryRun: boolean) {
      for (const line of told) note(shell, printable(line));
      if (problems > told.length) note(shell, `… and ${problems - told.length} more`);
      const { created, updated, unchanged } = counts;
      const done = `${created} created, ${updated} updated, ${unchanged} unchanged, ${problems} left out`;
      shell.stdout.write(`${dryRun ? "would be: " : ""}${done}\n`);
    },
  };
}
