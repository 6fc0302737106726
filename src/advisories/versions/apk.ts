// Versions of apk packages: apk-package(5), "PACKAGE METAINFO FIELDS", and how apk-tools compares its parts.
import { compareTexts } from "../../base/compare-texts.ts";
import { keepParses } from "./kept-parses.ts";
import { compareDigits } from "./texts.ts";

/**
 * The parts of a version, in the order in which they may follow each other. A later kind is a smaller version. `rest` is everything from
 * where the format forbids the version.
 */
const kinds = {
  first: 0,
  number: 1,
  letter: 2,
  suffix: 3,
  suffixNumber: 4,
  hash: 5,
  revision: 6,
  end: 7,
  rest: 8,
} as const;

interface Part {
  readonly kind: (typeof kinds)[keyof typeof kinds];
  readonly text: string;
}

/** Those before the empty one are of versions before the release. */
const suffixes: readonly string[] = ["alpha", "beta", "pre", "rc", "", "cvs", "svn", "git", "hg", "p"];
const release = suffixes.indexOf("");

// Up to Alpine 3.13 some packages had a number after the letter, such as 1.9.5p2 of sudo, which apk-tools 2 compares like this.
const numbersAndLetter = /^([0-9]+(?:\.[0-9]+)*)(?:([a-z])(?![a-z])([0-9]*))?/;
const suffix = `_(?:${suffixes.filter((name) => name !== "").join("|")})(?![a-z])[0-9]*`;
const suffixesToRevision = new RegExp(`^((?:${suffix})*)(~[0-9a-f]+(?![a-z0-9]))?(-r[0-9]+)?`);

/**
 * Compares part by part. Undefined if the parts before the first one that the format forbids do not decide: `10.2.24.r0` is after
 * `10.2.22-r0`, and its place next to `10.2.24-r0` is not known.
 */
export function compareApk(a: string, b: string): number | undefined {
  const [left, right] = [parseKept(a.trim()), parseKept(b.trim())];
  const end: Part = { kind: kinds.end, text: "" };
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const order = compareParts(left[i] ?? end, right[i] ?? end);
    if (order !== 0) return order;
  }
  return 0;
}

const parseKept = keepParses(parse);

function parse(version: string): Part[] {
  const [head = "", numbers, letter = "", patch = ""] = numbersAndLetter.exec(version) ?? [];
  // An epoch, which other formats write as 1: or 1!, would count before all parts.
  if (numbers === undefined || /[:!]/.test(version)) return [{ kind: kinds.rest, text: version }];
  const found: Part[] = numbers.split(".").map((text, i) => ({ kind: i === 0 ? kinds.first : kinds.number, text }));
  const tail = version.slice(head.length);
  const [known = "", suffixed = "", hash = "", revision = ""] = suffixesToRevision.exec(tail) ?? [];
  const named = [...suffixed.matchAll(/_([a-z]+)([0-9]*)/g)].flatMap(([, name = "", number = ""]): Part[] => [
    { kind: kinds.suffix, text: name },
    ...partsOf(kinds.suffixNumber, number),
  ]);
  return [
    ...found,
    ...partsOf(kinds.letter, letter),
    ...partsOf(kinds.number, patch),
    ...named,
    ...partsOf(kinds.hash, hash),
    ...partsOf(kinds.revision, revision.slice("-r".length)),
    ...partsOf(kinds.rest, tail.slice(known.length)),
  ];
}

function partsOf(kind: Part["kind"], text: string): Part[] {
  return text === "" ? [] : [{ kind, text }];
}

function compareParts(a: Part, b: Part): number | undefined {
  if (a.kind === kinds.rest || b.kind === kinds.rest) return a.kind === b.kind && a.text === b.text ? 0 : undefined;
  if (a.kind === b.kind) return compareEqualKinds(a, b);
  if (isBeforeRelease(a)) return -1;
  if (isBeforeRelease(b)) return 1;
  return b.kind - a.kind;
}

function isBeforeRelease({ kind, text }: Part): boolean {
  return kind === kinds.suffix && suffixes.indexOf(text) < release;
}

function compareEqualKinds({ kind, text: a }: Part, { text: b }: Part): number {
  if (kind === kinds.suffix) return suffixes.indexOf(a) - suffixes.indexOf(b);
  if (kind === kinds.letter || kind === kinds.hash) return compareTexts(a, b);
  // 1.05 is before 1.1, as decimals are. The first number is never one.
  const isDecimal = kind === kinds.number && (a.startsWith("0") || b.startsWith("0"));
  return isDecimal ? compareTexts(a, b) : compareDigits(a, b);
}
