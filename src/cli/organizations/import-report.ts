// The report about the resources of an import.
import type { JsonObject } from "@bufbuild/protobuf";
import { ImportOutcome, type ImportResult } from "../../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import { printable } from "../escape.ts";
import { countedText, type Kind, missingSecretText, nouns } from "./format.ts";
import type { Line } from "./read-file.ts";

/** How many resources of each outcome are shown one by one. */
const shown = 1000;

type Named = "created" | "updated" | "unchanged" | "rejected";

const names: Readonly<Partial<Record<ImportOutcome, Named>>> = {
  [ImportOutcome.CREATED]: "created",
  [ImportOutcome.UPDATED]: "updated",
  [ImportOutcome.UNCHANGED]: "unchanged",
};

/** Counts the resources of an import, and remembers the first of each outcome. */
export class ImportReport {
  readonly #isDryRun: boolean;
  readonly #counts: Record<Named, Partial<Record<Kind, number>>> = {
    created: {},
    updated: {},
    unchanged: {},
    rejected: {},
  };
  readonly #details: Record<Named, JsonObject[]> = { created: [], updated: [], unchanged: [], rejected: [] };
  /**
   * The uids that a dry run would have created, as the number of their last 12 hexadecimal digits: later resources may
   * refer to them.
   */
  readonly #created = new Set<number>();

  constructor(isDryRun: boolean) {
    this.#isDryRun = isDryRun;
  }

  /** The client secrets that have to be set again, as sentences. */
  readonly missingSecrets: string[] = [];

  add(line: Line, result: ImportResult): void {
    const { outcome, problems } = result;
    if (isWithoutSecret(line, result)) this.missingSecrets.push(missingSecretText(line.name, line.uid));
    const waits = this.#isDryRun && problems.length > 0 && problems.every(({ missingUid }) => this.#has(missingUid));
    const name = waits ? "created" : (names[outcome] ?? "rejected");
    const counts = this.#counts[name];
    counts[line.kind] = (counts[line.kind] ?? 0) + 1;
    if (this.#isDryRun && name === "created") this.#created.add(numberOf(line.uid));
    const details = this.#details[name];
    if (name === "unchanged" || details.length >= shown) return;
    details.push(detailOf(line, name === "created" ? undefined : result));
  }

  /** Whether no resource was rejected. */
  get isWhole(): boolean {
    return this.#details.rejected.length === 0;
  }

  /** Returns the differences, one per line: all of a dry run, otherwise only what was rejected. */
  *lines(): Generator<string> {
    const signs = { created: "+", updated: "~", rejected: "!" } as const;
    for (const name of this.#isDryRun ? (["created", "updated", "rejected"] as const) : (["rejected"] as const)) {
      for (const detail of this.#details[name]) yield `${signs[name]} ${textOf(detail)}`;
      const more = this.#total(name) - this.#details[name].length;
      if (more > 0) yield `${signs[name]} … and ${more} more`;
    }
  }

  *summary(): Generator<string> {
    const would = this.#isDryRun ? "would be " : "";
    yield `${would}created: ${countedText(this.#counts.created)}`;
    yield `${would}updated: ${countedText(this.#counts.updated)}`;
    yield `unchanged: ${countedText(this.#counts.unchanged)}`;
    yield `${would}rejected: ${countedText(this.#counts.rejected)}`;
  }

  data(isComplete: boolean): JsonObject {
    const outcomes = (["created", "updated", "unchanged", "rejected"] as const).map((name) => [
      name,
      this.#counts[name],
    ]);
    const { updated, rejected } = this.#details;
    const { missingSecrets } = this;
    return {
      dryRun: this.#isDryRun,
      complete: isComplete,
      counts: Object.fromEntries(outcomes),
      updated,
      rejected,
      missingSecrets,
    };
  }

  #has(uid: string): boolean {
    return uid !== "" && this.#created.has(numberOf(uid));
  }

  #total(name: Named): number {
    return Object.values(this.#counts[name]).reduce((sum, count) => sum + count, 0);
  }
}

/** Returns a number below 2^48: the last digits of a uid are random. */
function numberOf(uid: string): number {
  return Number.parseInt(uid.slice(-12), 16);
}

/** Whether an identity provider has no client secret here, but needs one or had one. */
function isWithoutSecret({ resource: { resource }, lacksSecret }: Line, { hasClientSecret }: ImportResult): boolean {
  if (resource.case !== "identityProvider" || hasClientSecret) return false;
  return lacksSecret || resource.value.configuration.value?.pkceEnabled !== true;
}

function detailOf({ number, kind, uid, name }: Line, result: ImportResult | undefined): JsonObject {
  const { changes = [], problems = [] } = result ?? {};
  return {
    line: number,
    kind,
    uid,
    name,
    ...(changes.length > 0 && {
      changes: changes.map(({ field, oldValue, newValue }) => ({ field, oldValue, newValue })),
    }),
    ...(problems.length > 0 && { problems: problems.map(({ field, description }) => ({ field, description })) }),
  };
}

function textOf({ line, kind, uid, name, changes = [], problems = [] }: JsonObject): string {
  const what = `line ${line}: ${nouns.get(kind as Kind)?.[0] ?? kind} ${name === "" ? uid : `${name} (${uid})`}`;
  const changed = (changes as Record<string, string>[]).map(
    ({ field, oldValue, newValue }) => `${field}: ${oldValue || "unset"} → ${newValue || "unset"}`,
  );
  const broken = (problems as Record<string, string>[]).map(({ field, description }) => `${field}: ${description}`);
  return printable([what, ...changed, ...broken].join("; "));
}
