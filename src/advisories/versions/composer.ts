// Versions of Composer: https://getcomposer.org/doc/04-schema.md#version, in the order of PHP's version_compare.
import { keepParses } from "./kept-parses.ts";
import { compareDigits, compareItems, compareLists } from "./texts.ts";

/** Composer knows the word for the release in lower case only; PHP has unknown words, such as "STABLE", before all others. */
const stabilities: Readonly<Record<string, number>> = {
  stable: -1,
  dev: 0,
  alpha: 1,
  a: 1,
  beta: 2,
  b: 2,
  rc: 3,
  "": 4,
  patch: 5,
  pl: 5,
  p: 5,
};

/**
 * Compares versions of Composer: up to four numbers, then the stability such as `beta`, then the numbers behind it. Undefined if one of them
 * is a branch or not a version.
 */
export function compareComposer(a: string, b: string): number | undefined {
  const [left, right] = [parseKept(a), parseKept(b)];
  if (!left || !right) return undefined;
  return (
    compareItems(left.numbers, right.numbers, compareDigits, "") ||
    left.stability - right.stability ||
    compareLists(left.counts, right.counts, compareDigits) ||
    Number(right.isDevelopment) - Number(left.isDevelopment)
  );
}

const pattern = /^v?([0-9]+(?:\.[0-9]+){0,3})(?:[._-]?([a-z]+)[.-]?([0-9]*(?:[.-][0-9]+)*))?([.-]?dev)?(?:\+.*)?$/is;

const parseKept = keepParses(parse);

function parse(version: string) {
  const [, digits, word = "", counts = "", development = ""] = pattern.exec(version.trim()) ?? [];
  if (digits === undefined) return undefined;
  const numbers = digits.split(".");
  // The text behind the word for the release is left out.
  if (word === "stable") return { numbers, stability: stabilities[""]!, counts: [], isDevelopment: false };
  const name = word.toLowerCase();
  if (!Object.hasOwn(stabilities, name)) return undefined;
  return {
    numbers,
    stability: stabilities[name]!,
    counts: counts === "" ? [] : counts.split(/[.-]/),
    isDevelopment: development !== "",
  };
}
