// Versions of the Linux kernel: https://www.kernel.org/releases.html. Distributions add their build number.
import { compareDigits, compareItems } from "./texts.ts";

/** Compares numbers, then release candidates: 6.1-rc2 is before 6.1-rc10, and 6.1.0-13-amd64 is 6.1. Undefined if one is not a version. */
export function compareLinux(a: string, b: string): number | undefined {
  const [left, right] = [parse(a), parse(b)];
  if (!left || !right) return undefined;
  const order = compareItems(left.numbers, right.numbers, compareDigits, "");
  if (order !== 0 || left.candidate === right.candidate) return order;
  // A version without a candidate is after all of them.
  if (left.candidate === "" || right.candidate === "") return left.candidate === "" ? 1 : -1;
  return compareDigits(left.candidate, right.candidate);
}

function parse(version: string) {
  const [, numbers, candidate = ""] =
    /^v?([0-9]+(?:\.[0-9]+)*)(?:-rc([0-9]+))?(?:[-+_~].*)?$/s.exec(version.trim()) ?? [];
  return numbers === undefined ? undefined : { numbers: numbers.split("."), candidate };
}
