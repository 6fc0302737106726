// Versions of RubyGems: the documentation of Gem::Version.
import { compareTexts } from "../../base/compare-texts.ts";
import { keepParses } from "./kept-parses.ts";
import { compareDigits, compareItems, isDigits } from "./texts.ts";

/** Compares segment by segment. Undefined if one of them is not a version of a gem. */
export function compareGem(a: string, b: string): number | undefined {
  const [left, right] = [parseKept(a.trim()), parseKept(b.trim())];
  return left && right && compareItems(left, right, compareSegments, "0");
}

const parseKept = keepParses(parse);

function parse(version: string): string[] | undefined {
  if (!/^[0-9A-Za-z.-]+$/.test(version) || !/^[0-9]/.test(version)) return undefined;
  const segments = version.replaceAll("-", ".pre.").match(/[0-9]+|[A-Za-z]+/g) ?? [];
  const firstWord = segments.findIndex((segment) => !isDigits(segment));
  const numbers = firstWord === -1 ? segments : segments.slice(0, firstWord);
  // Zeros at the end of the numbers and of the whole do not count: 1.0.a is 1.a.
  return [...withoutZeros(numbers), ...withoutZeros(segments.slice(numbers.length))];
}

function withoutZeros(segments: readonly string[]): string[] {
  const last = segments.findLastIndex((segment) => !/^0+$/.test(segment));
  return segments.slice(0, last + 1);
}

/** A word is before every number: 1.a is before 1. */
function compareSegments(a: string, b: string): number {
  const [isLeftNumber, isRightNumber] = [isDigits(a), isDigits(b)];
  if (isLeftNumber !== isRightNumber) return isLeftNumber ? 1 : -1;
  return isLeftNumber ? compareDigits(a, b) : compareTexts(a, b);
}
