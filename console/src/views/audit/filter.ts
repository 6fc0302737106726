// The filter of the audit log: words such as `kind:groups`, and what is wrong with them.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Outcome } from "../../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { languages } from "../../../../packages/client/src/sentences.ts";
import { isUid } from "../../api/uids.ts";

/** The fields of ListChanges that a filter sets. */
export interface ChangeFilter {
  readonly parent?: string;
  readonly actorUids?: string[];
  readonly resourceUid?: string;
  readonly kinds?: string[];
  readonly method?: string;
  readonly query?: string;
  readonly outcome?: Outcome;
  readonly startTime?: ReturnType<typeof timestampFromDate>;
  readonly endTime?: ReturnType<typeof timestampFromDate>;
}

/** The names of words, in the order in which they are offered. */
export const wordNames = [
  "actor",
  "kind",
  "group",
  "outcome",
  "after",
  "before",
  "name",
  "method",
  "resource",
] as const;
/** The name of a word. */
export type WordName = (typeof wordNames)[number];

/** The kinds of changes, sorted. */
export const changeKinds: readonly string[] = [
  ...new Set(Object.keys(languages.en.texts).map((key) => key.slice(0, key.indexOf(".")))),
]
  .filter((kind) => kind !== "name" && kind !== "other")
  .sort();

/** The values of `outcome:`. */
export const outcomes = ["allowed", "denied"] as const;

/** A parsed filter. */
export interface ParsedFilter {
  /** The words that are understood, by their names. */
  readonly words: Readonly<Partial<Record<WordName, string>>>;
  /** The words that are not understood. */
  readonly unknown: readonly string[];
}

const checks: Readonly<Record<WordName, (value: string) => boolean>> = {
  actor: isUid,
  kind: (value) => changeKinds.includes(value),
  group: isUid,
  outcome: (value) => outcomes.some((one) => one === value),
  after: isTime,
  before: isTime,
  name: (value) => /[\p{L}\p{N}]/u.test(value),
  method: (value) => value !== "",
  resource: isUid,
};

/** Parses a filter. A uid alone names a resource. The last word of a name counts. */
export function parseFilter(text: string): ParsedFilter {
  const words: Partial<Record<WordName, string>> = {};
  const unknown: string[] = [];
  for (const word of text.split(/\s+/).filter((one) => one !== "")) {
    const [, typed, value = ""] = /^(\w+):(.+)$/.exec(isUid(word) ? `resource:${word}` : word) ?? [];
    const name = wordNames.find((one) => one === typed);
    if (name && checks[name](value)) words[name] = value;
    else unknown.push(word);
  }
  return { words, unknown };
}

/** Returns the fields of a request. Days begin at midnight in the zone of the browser, or in UTC. */
export function requestOf(words: ParsedFilter["words"], isUtc: boolean): ChangeFilter {
  const { actor, kind, group, outcome, after, before, name, method, resource } = words;
  const at = (text: string) => timestampFromDate(new Date(isDay(text) && !isUtc ? `${text}T00:00` : text));
  return {
    ...(actor && { actorUids: [actor] }),
    ...(kind && { kinds: [kind] }),
    ...(group && { parent: group }),
    ...(outcome && { outcome: outcome === "denied" ? Outcome.DENIED : Outcome.ALLOWED }),
    ...(after && { startTime: at(after) }),
    ...(before && { endTime: at(before) }),
    ...(name && { query: name.replaceAll("_", " ") }),
    ...(method && { method }),
    ...(resource && { resourceUid: resource }),
  };
}

/** Returns a filter with another word in place of those of the same name, or without them. */
export function withWord(text: string, name: WordName, value: string): string {
  const others = text.split(/\s+/).filter((word) => word !== "" && !word.startsWith(`${name}:`));
  return [...others, ...(value === "" ? [] : [`${name}:${value}`])].join(" ");
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text);
}

function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text));
}
