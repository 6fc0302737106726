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
import { wrongUsage } from "../failure.ts";
import { printable } from "../output/escape.ts";
import { note } from "../shell.ts";
import { BadDocument } from "./document.ts";
import { parseText } from "./document-text.ts";
import { type FormatName, readDocument } from "./formats.ts";
import { toRecord } from "./record.ts";
import { openRehearsal, relate } from "./rehearsal.ts";
import { type Item, openSender } from "./sender.ts";
import { filesOf, problemOf, type SourceFile } from "./sources.ts";

/** What a person asked for. */
export interface ImportOptions {
  /** The uid of the group. */
  readonly group: string;
  readonly format: FormatName | "auto";
  /** Who wrote the advisories; what the documents say when it is empty. */
  readonly author: string;
  readonly dryRun: boolean;
}

/** The most that one advisory has: less than a request may have. */
const maxItemBytes = 3 * 1024 * 1024;

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
  if (paths.includes("")) throw wrongUsage("the path of what to import is empty");
  const report = newReport();
  try {
    await importAll(session, paths, options, report);
  } finally {
    report.print(session, options.dryRun);
  }
  return report.problems === 0 ? 0 : 1;
}

async function importAll(session: Session, paths: readonly string[], options: ImportOptions, report: Report) {
  const write = await openWriter(session, options, report);
  const sender = options.dryRun ? openRehearsal(write, await relate(itemsIn(paths, options))) : openSender(write);
  let files = 0;
  for await (const _ of filesOf(paths)) files++;
  using progress = await openProgress(session.shell, "importing", files);
  for await (const file of filesOf(paths)) {
    if ("reason" in file) report.problem(file.name, file.reason);
    else for (const item of await itemsOf(file, options, report)) await sender.add(item);
    progress.advance();
  }
  await sender.finish();
}

/** The advisories of all files; what is wrong with any is reported when they are read once more. */
async function* itemsIn(paths: readonly string[], options: ImportOptions): AsyncIterable<Item> {
  const unread = newReport();
  for await (const file of filesOf(paths)) if (!("reason" in file)) yield* await itemsOf(file, options, unread);
}

/** The advisories of a file. What is wrong is reported, and the rest is answered. */
async function itemsOf(file: SourceFile, options: ImportOptions, report: Report): Promise<Item[]> {
  const items: Item[] = [];
  try {
    const document = parseText(file.name, await file.readText(), options.format);
    for (const part of readDocument(document, options.format, options)) {
      report.attempt(part.name === "" ? file.name : `${file.name}: ${part.name}`, () => {
        for (const record of part.read().map(toRecord)) {
          report.attempt(`${file.name}: ${record.advisoryId}`, () => items.push(toItem(file.name, record)));
        }
      });
    }
  } catch (error) {
    report.problem(file.name, problemOf(error, file.name));
  }
  return items;
}

/** Throws when the record cannot be sent. */
function toItem(file: string, record: ImportedAdvisory): Item {
  const size = toBinary(ImportedAdvisorySchema, record).length;
  if (size > maxItemBytes) throw new BadDocument(`it is larger than ${maxItemBytes} bytes`);
  return { file, record, size };
}

/** Sends items to the server, and reports what became of each. */
async function openWriter(session: Session, { group, dryRun }: ImportOptions, report: Report) {
  const client = await session.client(AdvisoryImportService);
  return async (items: readonly Item[]): Promise<void> => {
    const advisories = items.map(({ record }) => record);
    const { results } = await client.importAdvisories({ parent: group, advisories, dryRun });
    results.forEach(({ outcome, error }, i) => {
      const { file, record } = items[i]!;
      const word = words[outcome as keyof typeof words];
      if (word) report.count(word);
      else report.problem(`${file}: ${record.advisoryId}`, error);
    });
  };
}

type Report = ReturnType<typeof newReport>;

function newReport() {
  const counts = { created: 0, updated: 0, unchanged: 0 };
  const told: string[] = [];
  let problems = 0;
  function problem(where: string, reason: string): void {
    problems++;
    if (told.length < toldProblems) told.push(`${where}: ${reason}`);
  }
  return {
    get problems() {
      return problems;
    },
    problem,
    /** Does a part of the work; what it throws is a problem. */
    attempt(where: string, work: () => void): void {
      try {
        work();
      } catch (error) {
        problem(where, problemOf(error, where));
      }
    },
    count(word: keyof typeof counts) {
      counts[word]++;
    },
    print({ shell }: Session, dryRun: boolean) {
      for (const line of told) note(shell, printable(line));
      if (problems > told.length) note(shell, `… and ${problems - told.length} more`);
      const { created, updated, unchanged } = counts;
      if (created + updated + unchanged + problems === 0) note(shell, "No advisories.");
      const done = `${created} created, ${updated} updated, ${unchanged} unchanged, ${problems} left out`;
      shell.stdout.write(`${dryRun ? "would be: " : ""}${done}\n`);
    },
  };
}
