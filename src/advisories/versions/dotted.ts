// Versions that are numbers only: those of R (`?package_version`) and of Haskell (Data.Version).
import { keepParses } from "./kept-parses.ts";
import { compareDigits, compareLists } from "./texts.ts";

/** Compares number by number; the shorter of two that begin alike is before the other. Undefined when one has anything else. */
export function compareDotted(a: string, b: string): number | undefined {
  const [left, right] = [parseKept(a.trim()), parseKept(b.trim())];
  if (!left || !right) return undefined;
  return compareLists(left, right, compareDigits);
}

const parseKept = keepParses(parse);

function parse(version: string): string[] | undefined {
  return /^[0-9]+(?:[.-][0-9]+)*$/.test(version) ? version.split(/[.-]/) : undefined;
}
