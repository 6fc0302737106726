// The report of an import. It counts each record once.
import type { JsonObject } from "@bufbuild/protobuf";
import { RecordOutcome } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { NamedFile } from "../../../advisories/named-files.ts";
import type { Problem } from "../../../advisories/reading.ts";
import { printable } from "../../escape.ts";
import { noDocuments, SkippedFiles } from "./skipped-files.ts";

/** The place of a record: the file, and the record's name in it. */
export interface Place {
  readonly file: string;
  readonly record: string;
}

/** The extent of a problem: a repaired field, a field left out, a record left out, or an unreadable file. */
type Lost = "nothing" | "field" | "record" | "file";

interface Line extends Place, Problem {
  readonly lost: Lost;
}

/** Problems that are shown one by one. */
const shownProblems = 1000;

const counted = ["created", "updated", "unchanged", "withdrawn", "leftOut"] as const;
type Counted = (typeof counted)[number];

const wordOf: Readonly<Partial<Record<RecordOutcome, Counted>>> = {
  [RecordOutcome.CREATED]: "created",
  [RecordOutcome.UPDATED]: "updated",
  [RecordOutcome.UNCHANGED]: "unchanged",
  [RecordOutcome.WITHDRAWN]: "withdrawn",
};

/** The outcome of an import. */
export interface Ending {
  readonly isDryRun: boolean;
  /** It read all files and wrote all records. */
  readonly isComplete: boolean;
}

/** The outcome of deleting records that the sources of an import no longer have. */
export type Pruning =
  /** `named` are those of a dry run, which are still there. */
  | { readonly pruned: number; readonly named: readonly string[] }
  /** The reason why nothing was deleted, and a hint. */
  | { readonly refused: string; readonly hint: string };

/** Counts the records of an import, and keeps the problems. */
export class Report {
  readonly #counts: Record<Counted, number> = { created: 0, updated: 0, unchanged: 0, withdrawn: 0, leftOut: 0 };
  readonly #lines: Readonly<Record<Lost, Line[]>> = { nothing: [], field: [], record: [], file: [] };
  readonly #lost: Record<Lost, number> = { nothing: 0, field: 0, record: 0, file: 0 };
  /** Files that are not read, with their kind. */
  readonly #named: { readonly file: string; readonly what: string }[] = [];
  #namedCount = 0;
  readonly #skipped = new SkippedFiles();
  #hasRead = false;
  #unanswered = 0;
  /** The first one that stands for records. */
  #unreadRecords = "";
  /** Records that only earlier versions of documents had. */
  superseded = 0;
  /** The outcome of deleting records that the sources no longer have; undefined unless the import prunes. */
  pruning: Pruning | undefined;

  /** Counts a record that the server has taken. */
  count(outcome: RecordOutcome, by = 1): void {
    this.#counts[wordOf[outcome] ?? "leftOut"] += by;
  }

  /** Reports a record that was left out, and why. */
  leaveOut(place: Place, { path, rule }: Problem): void {
    this.#counts.leftOut++;
    this.#add({ ...place, path, rule, lost: "record" });
  }

  /** Reports a field that was left out or repaired; the record is there. */
  reportField(place: Place, { path, rule, isRepaired }: Problem): void {
    this.#add({ ...place, path, rule, lost: isRepaired ? "nothing" : "field" });
  }

  /** Reports a record that was sent without a response: the server may have stored it. */
  missResponse(place: Place): void {
    this.#unanswered++;
    this.#add({ ...place, path: "", rule: "was sent, but no response arrived: it may be stored", lost: "nothing" });
  }

  /** Reports a file that could not be read, or not to its end. */
  failFile(file: string, reason: string): void {
    this.#add({ file, record: "", path: "", rule: reason, lost: "file" });
  }

  /** Reports a file that holds nothing to import. */
  nameFile(file: string, { what, standsForRecords }: NamedFile): void {
    this.#namedCount++;
    if (standsForRecords) this.#unreadRecords ||= `${file} is ${what}`;
    if (this.#named.length < shownProblems) this.#named.push({ file, what });
  }

  /** Reports a file that is read. */
  readFile(): void {
    this.#hasRead = true;
  }

  /** Reports a file that is not read, by the end of its name. */
  skipFile(extension: string): void {
    this.#skipped.add(extension);
  }

  /** Whether there were files, and the names of all say that they hold no advisories. */
  get #hasSkippedAll(): boolean {
    return this.#skipped.count > 0 && !this.#hasRead && this.#lost.file + this.#namedCount === 0;
  }

  #add(line: Line): void {
    this.#lost[line.lost]++;
    if (this.#lines[line.lost].length < shownProblems) this.#lines[line.lost].push(line);
  }

  get #problems(): number {
    return this.#lost.file + this.#lost.record + this.#lost.field + this.#lost.nothing;
  }

  /** Whether a record was sent or left out. */
  get hasRecords(): boolean {
    return this.records + this.#unanswered > 0;
  }

  get records(): number {
    return counted.reduce((sum, word) => sum + this.#counts[word], 0);
  }

  /** Whether everything that was found could be read and was taken, but for fields. */
  get isWhole(): boolean {
    return this.#counts.leftOut === 0 && this.#lost.file === 0 && !this.#hasSkippedAll;
  }

  /**
   * Returns the reason why the sources may have records that were not found; empty if all files were read and all records were accepted.
   */
  get reasonIncomplete(): string {
    if (this.#lost.file > 0) return "a file could not be read";
    if (this.#counts.leftOut > 0) return "a record was left out";
    return this.#unreadRecords;
  }

  /** Returns one line per problem, the worst first, and one per file of a known kind without advisories. */
  lines(): string[] {
    const shown = this.#shown();
    const hidden = this.#problems - shown.length + this.#namedCount - this.#named.length;
    const named = this.#named.map(({ file, what }) => `${file}: is ${what}: nothing to import`);
    return [
      ...[...named, ...shown.map(textOf)].map(printable),
      ...(hidden === 0 ? [] : [`… and ${hidden} more`]),
      ...this.#skipped.lines().map(printable),
      ...(this.records + this.#lost.file + this.#namedCount > 0
        ? []
        : [this.#hasSkippedAll ? noDocuments : "No advisories."]),
      ...(this.pruning ? pruningLines(this.pruning).map(printable) : []),
    ];
  }

  #shown(): Line[] {
    const { file, record, field, nothing } = this.#lines;
    return [...file, ...record, ...field, ...nothing].slice(0, shownProblems);
  }

  /** All counts, in one line. */
  summary({ isDryRun, isComplete }: Ending): string {
    const { created, updated, unchanged, withdrawn, leftOut } = this.#counts;
    const before = `${isComplete ? "" : "interrupted: "}${isDryRun ? "would be: " : ""}`;
    const outcomes = `${created} created, ${updated} updated, ${unchanged} unchanged, ${withdrawn} withdrawn`;
    const others = [
      plural(this.#lost.field, "field left out", "fields left out"),
      plural(this.#lost.nothing - this.#unanswered, "field repaired", "fields repaired"),
      plural(this.#unanswered, "record sent without a response", "records sent without a response"),
      plural(this.#lost.file, "file not read", "files not read"),
      plural(this.superseded, "record of an earlier version deleted", "records of earlier versions deleted"),
      this.pruning === undefined ? "" : "refused" in this.pruning ? "nothing pruned" : `${this.pruning.pruned} pruned`,
    ].filter((text) => text !== "");
    return `${before}${plural(this.records, "record", "records") || "0 records"}: ${[`${outcomes}, ${leftOut} left out`, ...others].join("; ")}`;
  }

  /** Returns the same for programs. */
  data({ isDryRun, isComplete }: Ending): JsonObject {
    const problems = this.#shown();
    return {
      dryRun: isDryRun,
      complete: isComplete,
      records: this.records,
      ...this.#counts,
      fieldsLeftOut: this.#lost.field,
      fieldsRepaired: this.#lost.nothing - this.#unanswered,
      recordsWithoutResponse: this.#unanswered,
      filesNotRead: this.#lost.file,
      filesWithoutAdvisories: this.#named.map(({ file, what }) => ({ file, what })),
      filesSkipped: Object.fromEntries(this.#skipped.entries()),
      recordsOfEarlierVersionsDeleted: this.superseded,
      ...(this.pruning ? pruningData(this.pruning) : {}),
      problems: problems.map(({ file, record, path, rule, lost }) => ({ file, record, path, rule, leftOut: lost })),
      problemsNotShown: this.#problems - problems.length,
    };
  }
}

function pruningLines(pruning: Pruning): string[] {
  if ("refused" in pruning) return [`gatehouse: nothing was pruned: ${pruning.refused}`, pruning.hint].filter(Boolean);
  const lines = pruning.named.slice(0, shownProblems).map((record) => `would be pruned: ${record}`);
  return pruning.named.length > lines.length ? [...lines, `… and ${pruning.named.length - lines.length} more`] : lines;
}

function pruningData(pruning: Pruning): JsonObject {
  if ("refused" in pruning) return { pruned: 0, pruneRefused: pruning.refused };
  const { pruned, named } = pruning;
  return named.length === 0 ? { pruned } : { pruned, wouldBePruned: [...named] };
}

function plural(count: number, one: string, many: string): string {
  return count === 0 ? "" : `${count} ${count === 1 ? one : many}`;
}

/** `file: record: path: rule`, and that the record is lost where it is. */
function textOf({ file, record, path, rule, lost }: Line): string {
  const text = [file, record, path, rule].filter((part) => part !== "").join(": ");
  return lost === "record" ? `${text} (record left out)` : text;
}
