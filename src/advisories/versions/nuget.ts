// Versions of NuGet: https://learn.microsoft.com/nuget/concepts/package-versioning.
import semver from "semver";
import { keepParses } from "./kept-parses.ts";
import { compareDigits, compareItems } from "./texts.ts";

/** SemVer with a fourth number; upper and lower case are equal. Undefined if one of them is not a version. */
export function compareNuget(a: string, b: string): number | undefined {
  const [left, right] = [parseKept(a), parseKept(b)];
  if (!left || !right) return undefined;
  return compareItems(left.numbers, right.numbers, compareDigits, "") || comparePrerelease(left.labels, right.labels);
}

const parseKept = keepParses(parse);

function parse(version: string) {
  const [, numbers, labels = ""] =
    /^v?([0-9]+(?:\.[0-9]+){0,3})(?:-([0-9a-z.-]+))?(?:\+.*)?$/s.exec(version.trim().toLowerCase()) ?? [];
  if (numbers === undefined) return undefined;
  return { numbers: numbers.split("."), labels: labels === "" ? [] : labels.split(".") };
}

/** SemVer 2.0, §11: a version with labels is before the one without; of two that begin alike the shorter is first. */
function comparePrerelease(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = semver.compareIdentifiers(a[i]!, b[i]!);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}
