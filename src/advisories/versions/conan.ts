// Versions of Conan packages: https://docs.conan.io/2/tutorial/versioning/version_ranges.html, "Semantic versioning".
import { compareTexts } from "../../base/compare-texts.ts";
import { compareIdentifier } from "./semver.ts";
import { compareDigits, compareLists } from "./texts.ts";

/** Compares item by item, then pre-releases and builds: 1.1.1 is before 1.1.1k. Undefined where a word meets a number. */
export function compareConan(a: string, b: string): number | undefined {
  const [left, right] = [parse(a), parse(b)];
  if (!left || !right) return undefined;
  const order = compareLists(left.items, right.items, compareItem);
  if (order !== 0) return order;
  return (
    // A version without a pre-release is after those that have one.
    Number(left.before.length === 0) - Number(right.before.length === 0) ||
    compareLists(left.before, right.before, compareIdentifier) ||
    compareLists(left.build, right.build, compareIdentifier)
  );
}

function parse(version: string) {
  const [, main, before, build] = /^v?([0-9a-z._]+)(?:-([0-9a-z.-]+))?(?:\+([0-9a-z.-]+))?$/.exec(version.trim()) ?? [];
  if (main === undefined) return undefined;
  // Zeros at the end of the numbers mean nothing.
  const items = main.replace(/(?:\.0+)+$/, "").split(".");
  return { items, before: before?.split(".") ?? [], build: build?.split(".") ?? [] };
}

/** The number at its beginning, then the rest. */
function compareItem(a: string, b: string): number | undefined {
  const [, left = "", leftRest = ""] = /^([0-9]*)(.*)$/.exec(a)!;
  const [, right = "", rightRest = ""] = /^([0-9]*)(.*)$/.exec(b)!;
  if ((left === "") !== (right === "")) return undefined;
  return compareDigits(left, right) || compareTexts(leftRest, rightRest);
}
