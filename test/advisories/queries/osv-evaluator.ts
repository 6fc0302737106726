// A small evaluator of OSV records, by https://ossf.github.io/osv-schema/#evaluation and written apart from the product: it reads
// the JSON of a generated record, and knows the order of generated versions by their ranks.
import { type Json, versionOf } from "../osv/generated.ts";

/** Ecosystems in which nothing tells which of two versions is later. */
const unordered: readonly string[] = ["Android", "OSS-Fuzz", "Root"];

/** A package and a version of it, as a scanner asks for them. */
export interface Asked {
  /** With the release, where the scanner knows it. */
  readonly ecosystem: string;
  readonly name: string;
  readonly rank: number;
}

/** Whether a record says that the version is affected, or whether it may be, where versions cannot be compared. */
export function isAffected(record: Json, asked: Asked): boolean {
  if (record.withdrawn !== undefined) return false;
  return (record.affected ?? []).some((item: Json) => isThePackage(item.package, asked) && itemAffects(item, asked));
}

function isThePackage(named: Json, { ecosystem, name }: Asked): boolean {
  if (named === undefined || named.name.toLowerCase() !== name.toLowerCase()) return false;
  const [base, release] = split(named.ecosystem);
  const [askedBase, askedRelease] = split(ecosystem);
  // A package of one registry, or of one release, may be of any where the other side names none.
  return base === askedBase && (release === "" || askedRelease === "" || mayBeOne(release, askedRelease));
}

/** A release by name, such as "PyPI", may be any that has a number. */
function mayBeOne(release: string, other: string): boolean {
  return release === other || /[0-9]/.test(release) !== /[0-9]/.test(other);
}

/** Returns the ecosystem, and the release or the registry. */
function split(ecosystem: string): [base: string, rest: string] {
  const [base = "", ...rest] = ecosystem.split(":");
  return [base, rest.join(":")];
}

function itemAffects(item: Json, asked: Asked): boolean {
  const ranges: Json[] = item.ranges ?? [];
  if (isFalsePositive(item) || ranges.some(isFalsePositive)) return false;
  const versioned = ranges.filter(({ type }) => type !== "GIT");
  if (ranges.length === 0 && item.versions === undefined) return true;
  if ((item.versions ?? []).includes(versionOf(asked.ecosystem, asked.rank))) return true;
  // Ranges of commits decide nothing about a version.
  if (versioned.length === 0 && item.versions === undefined) return true;
  const isNothing = ({ events }: Json) => JSON.stringify(events) === '[{"introduced":"0"},{"fixed":"0"}]';
  if (versioned.length > 0 && versioned.every(isNothing) && item.versions === undefined) return false;
  return versioned.some(({ events }) => rangeHas(events, asked));
}

function isFalsePositive({ database_specific: specific }: Json): boolean {
  return specific?.false_positive !== undefined;
}

function rangeHas(events: Json[], { ecosystem, rank }: Asked): boolean {
  const ranks = new Map(Array.from({ length: 1000 }, (_, i) => [versionOf(ecosystem, i), i]));
  const rankOf = (version: string) => (version === "0" ? -1 : ranks.get(version)!);
  if (unordered.includes(ecosystem.split(":")[0]!)) {
    const same = events.find((event) => !("limit" in event) && Object.values(event)[0] === versionOf(ecosystem, rank));
    return same === undefined || !("fixed" in same);
  }
  const limits = events.filter((event) => "limit" in event).map(({ limit }) => rankOf(limit));
  if (limits.length > 0 && limits.every((limit) => rank >= limit)) return false;
  let affected = false;
  const sorted = events
    .filter((event) => !("limit" in event))
    .map((event) => ({ event, at: rankOf(String(Object.values(event)[0])) }))
    .sort((a, b) => a.at - b.at);
  for (const { event, at } of sorted) {
    if ("introduced" in event && rank >= at) affected = true;
    if ("fixed" in event && rank >= at) affected = false;
    if ("last_affected" in event && rank > at) affected = false;
  }
  return affected;
}
