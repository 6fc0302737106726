// Versions of NuGet: https://learn.microsoft.com/nuget/concepts/package-versioning.
import { compareTexts } from "../../base/compare-texts.ts";
import { keepParses } from "./kept-parses.ts";
import { compareDigits, compareItems, compareLabels } from "./texts.ts";

/** SemVer with a fourth number; upper and lower case are equal. Undefined if one of them is not a version. */
export function compareNuget(a: string, b: string): number | undefined {
  const [left, right] = [parseKept(a), parseKept(b)];
  if (!left || !right) return undefined;
  return (
    compareItems(left.numbers, right.numbers, compareDigits, "") ||
    compareLabels(left.labels, right.labels, compareLabel)
  );
}

const parseKept = keepParses(parse);

function parse(version: string) {
  const [, numbers, labels = ""] =
    /^v?([0-9]+(?:\.[0-9]+){0,3})(?:-([0-9a-z.-]+))?(?:\+.*)?$/s.exec(version.trim().toLowerCase()) ?? [];
  if (numbers === undefined) return undefined;
  return { numbers: numbers.split("."), labels: labels === "" ? [] : labels.split(".") };
}

/** A number comes before a text. To NuGet a label of digits that do not fit into 32 bits, such as a time, is a text. */
function compareLabel(a: string, b: string): number {
  const [left, right] = [isInteger(a), isInteger(b)];
  if (left !== right) return left ? -1 : 1;
  return left ? Number(a) - Number(b) : compareTexts(a, b);
}

function isInteger(label: string): boolean {
  return /^-?[0-9]+$/.test(label) && Number(label) === (Number(label) | 0);
}
