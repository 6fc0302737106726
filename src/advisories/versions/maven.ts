// Versions of Maven: https://maven.apache.org/pom.html#version-order-specification.
import { compareTexts } from "../../base/compare-texts.ts";
import { keepParses } from "./kept-parses.ts";
import { compareDigits, isDigits } from "./texts.ts";

/** A token with the separator before it. */
interface Token {
  readonly isAfterDot: boolean;
  readonly text: string;
  readonly isNumber: boolean;
}

/** In their order. The empty one is the release, for which there are other words. */
const qualifiers: readonly string[] = ["alpha", "beta", "milestone", "rc", "snapshot", "", "sp"];
const synonyms: Readonly<Record<string, string>> = { cr: "rc", ga: "", final: "", release: "" };
const beforeNumber: Readonly<Record<string, string>> = { a: "alpha", b: "beta", m: "milestone" };

/** Compares token by token. */
export function compareMaven(a: string, b: string): number {
  const [left, right] = [parseKept(a)!, parseKept(b)!];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const [l, r] = [left[i], right[i]];
    const order = compareTokens(l ?? nullOf(r!), r ?? nullOf(l!));
    if (order !== 0) return order;
  }
  return 0;
}

const parseKept = keepParses(parse);

function parse(version: string): Token[] {
  // Between digits and letters there is a hyphen too.
  const found = [
    ...version
      .trim()
      .toLowerCase()
      .matchAll(/([.-]?)([0-9]+|[^0-9.-]+|)/g),
  ]
    .filter(([whole], i) => whole !== "" || i === 0)
    .map(([, separator, text = ""]) => ({ isAfterDot: separator === ".", text: text === "" ? "0" : text }))
    // A qualifier after a dot is the same as after a hyphen.
    .map(({ isAfterDot, text }) => ({ isAfterDot: isAfterDot && isDigits(text), text }));
  const words = found.map(({ isAfterDot, text }, i) =>
    newToken(isAfterDot, wordOf(text, isDigits(found[i + 1]?.text ?? ""))),
  );
  return withoutNulls(words);
}

function newToken(isAfterDot: boolean, text: string): Token {
  return { isAfterDot, text, isNumber: isDigits(text) };
}

function wordOf(text: string, isBeforeNumber: boolean): string {
  if (isBeforeNumber && Object.hasOwn(beforeNumber, text)) return beforeNumber[text]!;
  return Object.hasOwn(synonyms, text) ? synonyms[text]! : text;
}

/** Removes zeros and words for the release at the end, and before each hyphen. */
function withoutNulls(tokens: readonly Token[]): Token[] {
  const found: Token[] = [];
  for (const token of tokens) {
    if (!token.isAfterDot) trimEnd(found);
    found.push(token);
  }
  trimEnd(found);
  return found;
}

/** The first token stays: without it the second one would be compared with the first of another version. */
function trimEnd(tokens: Token[]): void {
  while (tokens.length > 1 && /^0*$/.test(tokens.at(-1)!.text)) tokens.pop();
}

/** Returns the padding token that the shorter version is compared with. */
function nullOf({ isAfterDot, isNumber }: Token): Token {
  return newToken(isAfterDot, isNumber ? "0" : "");
}

function compareTokens(a: Token, b: Token): number {
  if (!a.isNumber && !b.isNumber) return compareQualifiers(a.text, b.text);
  // Qualifiers are before numbers, and numbers after a hyphen before those after a dot.
  if (a.isNumber !== b.isNumber) return a.isNumber ? 1 : -1;
  return Number(a.isAfterDot) - Number(b.isAfterDot) || compareDigits(a.text, b.text);
}

function compareQualifiers(a: string, b: string): number {
  return rankOf(a) - rankOf(b) || compareTexts(a, b);
}

/** Others than the known ones are after all of them. */
function rankOf(qualifier: string): number {
  const rank = qualifiers.indexOf(qualifier);
  return rank === -1 ? qualifiers.length : rank;
}
