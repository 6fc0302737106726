// Versions of SemVer 2.0 (https://semver.org), by the library of npm, and the variants of ecosystems.
import semver, { type SemVer } from "semver";
import { compareTexts } from "../../base/compare-texts.ts";
import { keepParses } from "./kept-parses.ts";
import { compareDigits, compareLabels, compareLists, isDigits } from "./texts.ts";

/** Compares versions of SemVer, also such as "v1.2". Undefined if one of them is not a version. */
export function compareSemver(a: string, b: string): number | undefined {
  const [left, right] = [parseKept(a), parseKept(b)];
  return left && right && compareParsed(left, right);
}

/** Versions of Go modules, and those of Go itself, such as "go1.21rc2". */
export function compareGo(a: string, b: string): number | undefined {
  return compareSemver(withoutGo(a), withoutGo(b));
}

/** Pub and Julia: of two versions that are equal in SemVer, the one that is built later is the later version. */
export function compareWithBuild(a: string, b: string): number | undefined {
  const [left, right] = [parseKept(a), parseKept(b)];
  return left && right && (compareParsed(left, right) || compareLists(left.build, right.build, compareIdentifier));
}

/** Kubernetes: a vendor's suffix, as in "1.27.3-gke.100", does not make a version a pre-release. */
export function compareKubernetes(a: string, b: string): number | undefined {
  return compareSemver(withoutVendor(a), withoutVendor(b));
}

/** Words that stand for a version before the release also without the hyphen before them. Of other words nobody knows. */
const prereleaseWord = /^(?:alpha|beta|canary|dev|next|nightly|pre|preview|rc|snapshot)(?![a-z])/i;

const parseKept = keepParses(parse);

function parse(version: string): SemVer | undefined {
  const [, numbers, rest = ""] = /^[vV=]?([0-9]+(?:\.[0-9]+){0,2})((?![0-9.]).*)?$/s.exec(version.trim()) ?? [];
  if (numbers === undefined || (/^[a-z]/i.test(rest) && !prereleaseWord.test(rest))) return undefined;
  // Ecosystems with versions like "1.2" mean "1.2.0"; zeros before a number mean nothing.
  const padded = [...numbers.split("."), "0", "0"].slice(0, 3).map((number) => number.replace(/^0+(?=[0-9])/, ""));
  return semver.parse(padded.join(".") + rest, { loose: true }) ?? undefined;
}

function compareParsed(a: SemVer, b: SemVer): number {
  return a.compareMain(b) || compareLabels(a.prerelease.map(String), b.prerelease.map(String), compareIdentifier);
}

/** Compares as SemVer 2.0, §11.4. The library has numbers as floats: of large ones some are equal to it that are not. */
export function compareIdentifier(a: string, b: string): number {
  const [left, right] = [isDigits(a), isDigits(b)];
  if (left !== right) return left ? -1 : 1;
  return left ? compareDigits(a, b) : compareTexts(a, b);
}

function withoutVendor(version: string): string {
  return version.replace(/^([^-]*)-(?!alpha|beta|rc).*$/, "$1");
}

function withoutGo(version: string): string {
  const plain = version.trim().replace(/^go(?=[0-9])/, "");
  const [, numbers = "", word = "", number = ""] = /^([0-9]+(?:\.[0-9]+){1,2})(beta|rc)([0-9]+)$/.exec(plain) ?? [];
  if (numbers === "") return plain;
  const padded = numbers.split(".").length === 2 ? `${numbers}.0` : numbers;
  return `${padded}-${word}.${number}`;
}
