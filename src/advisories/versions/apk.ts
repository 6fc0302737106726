// Versions of apk packages: apk-package(5), "PACKAGE METAINFO FIELDS", and how apk-tools compares its parts.
import { compareTexts } from "../../base/compare-texts.ts";
import { keepParses } from "./kept-parses.ts";
import { compareDigits } from "./texts.ts";

/** The parts of a version, in the order in which they may follow each other. A later kind is a smaller version. */
const kinds = { first: 0, number: 1, letter: 2, suffix: 3, suffixNumber: 4, hash: 5, revision: 6, end: 7 } as const;

interface Part {
  readonly kind: (typeof kinds)[keyof typeof kinds];
  readonly text: string;
}

/** Those before the empty one are of versions before the release. */
const suffixes: readonly string[] = ["alpha", "beta", "pre", "rc", "", "cvs", "svn", "git", "hg", "p"];
const release = suffixes.indexOf("");

/** Compares part by part. Undefined if one of them is not a version of apk. */
export function compareApk(a: string, b: string): number | undefined {
  const [left, right] = [parseKept(a.trim()), parseKept(b.trim())];
  if (!left || !right) return undefined;
  const end: Part = { kind: kinds.end, text: "" };
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const order = compareParts(left[i] ?? end, right[i] ?? end);
    if (order !== 0) return order;
  }
  return 0;
}

const parseKept = keepParses(parse);

/** Undefined if it is not a version. */
function parse(version: string): Part[] | undefined {
  const [, numbers, letter = "", patch = "", tail = ""] =
    /^([0-9]+(?:\.[0-9]+)*)(?:([a-z])([0-9]*))?(.*)$/s.exec(version) ?? [];
  if (numbers === undefined) return undefined;
  const found: Part[] = numbers.split(".").map((text, i) => ({ kind: i === 0 ? kinds.first : kinds.number, text }));
  if (letter !== "") found.push({ kind: kinds.letter, text: letter });
  // Up to Alpine 3.13 some packages had such versions, 1.9.5p2 of sudo for one, which apk-tools 2 compares like this.
  if (patch !== "") found.push({ kind: kinds.number, text: patch });
  const [, suffixed = "", hash = "", revision = "", rest] =
    /^((?:_[a-z]+[0-9]*)*)(~[0-9a-f]+)?(-r[0-9]+)?(.*)$/s.exec(tail) ?? [];
  if (rest !== "") return undefined;
  for (const [, name = "", number = ""] of suffixed.matchAll(/_([a-z]+)([0-9]*)/g)) {
    if (!suffixes.includes(name)) return undefined;
    found.push({ kind: kinds.suffix, text: name });
    if (number !== "") found.push({ kind: kinds.suffixNumber, text: number });
  }
  if (hash !== "") found.push({ kind: kinds.hash, text: hash });
  if (revision !== "") found.push({ kind: kinds.revision, text: revision.slice("-r".length) });
  return found;
}

function compareParts(a: Part, b: Part): number {
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
