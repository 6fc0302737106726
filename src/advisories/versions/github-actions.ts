// Versions of GitHub Actions: tags of SemVer, and tags such as "v4", which their owners move to each later version.
import { compareSemver } from "./semver.ts";

/** Compares tags. Undefined where a tag may be moved to either side of the other one, as for "v4" and "4.1.0". */
export function compareActions(a: string, b: string): number | undefined {
  const numbers = Math.min(numbersOfMoved(a), numbersOfMoved(b));
  const order = compareSemver(a, b);
  const isOneTag = compareSemver(beginningOf(a, numbers), beginningOf(b, numbers)) === 0;
  return order !== 0 && isOneTag && numbers < 3 ? undefined : order;
}

/** Returns the number of parts of a moving tag such as v1.2; infinite for any other tag. */
function numbersOfMoved(tag: string): number {
  const [, numbers] = /^v([0-9]+(?:\.[0-9]+)?)$/.exec(tag.trim()) ?? [];
  return numbers?.split(".").length ?? Number.POSITIVE_INFINITY;
}

function beginningOf(tag: string, numbers: number): string {
  return /^v?([0-9.]*)/.exec(tag.trim())![1]!.split(".").slice(0, numbers).join(".");
}
