// Versions of Composer: https://getcomposer.org/doc/04-schema.md#version, in the order of PHP's version_compare.
import { keepParses } from "./kept-parses.ts";
import { compareDigits, compareItems } from "./texts.ts";

const stabilities: Readonly<Record<string, number>> = {
  ...{ dev: 0, alpha: 1, a: 1, beta: 2, b: 2, rc: 3, stable: 4, "": 4, patch: 5, pl: 5, p: 5 },
};

/** Compares four numbers, the stability and its numbers. Undefined if one of them is a branch or not a version. */
export function compareComposer(a: string, b: string): number | undefined {
  const [left, right] = [parseKept(a), parseKept(b)];
  if (!left || !right) return undefined;
  return (
    compareItems(left.numbers, right.numbers, compareDigits, "") ||
    left.stability - right.stability ||
    compareItems(left.counts, right.counts, compareDigits, "") ||
    Number(right.isDevelopment) - Number(left.isDevelopment)
  );
}

const pattern = /^v?([0-9]+(?:\.[0-9]+){0,3})(?:[._-]?([a-z]+)[.-]?([0-9]*(?:[.-][0-9]+)*))?([.-]?dev)?(?:\+.*)?$/s;

const parseKept = keepParses(parse);

function parse(version: string) {
  const [, numbers, word = "", counts = "", development = ""] = pattern.exec(version.trim().toLowerCase()) ?? [];
  if (numbers === undefined || !Object.hasOwn(stabilities, word)) return undefined;
  return {
    numbers: numbers.split("."),
    stability: stabilities[word]!,
    counts: counts === "" ? [] : counts.split(/[.-]/),
    isDevelopment: development !== "",
  };
}
