// Versions of RPM packages: rpm-version(7), and rpmvercmp of rpm.org.
import { compareTexts } from "../../base/compare-texts.ts";
import { keepParses } from "./kept-parses.ts";
import { compareDigits, isDigits, splitEpoch } from "./texts.ts";

/**
 * Compares epoch, version and release. Undefined when only one of two equal versions has a release: the other may be any of its
 * releases.
 */
export function compareRpm(a: string, b: string): number | undefined {
  const [left, right] = [parseKept(a)!, parseKept(b)!];
  const order = compareDigits(left.epoch, right.epoch) || compareSegments(left.version, right.version);
  if (order !== 0) return order;
  if ((left.release === undefined) !== (right.release === undefined)) return undefined;
  return compareSegments(left.release ?? [], right.release ?? []);
}

const parseKept = keepParses(parse);

function parse(text: string) {
  const [epoch, rest] = splitEpoch(text.trim());
  const hyphen = rest.lastIndexOf("-");
  if (hyphen === -1) return { epoch, version: segmentsOf(rest), release: undefined };
  const release = rest.slice(hyphen + 1);
  return {
    epoch,
    version: segmentsOf(rest.slice(0, hyphen)),
    release: release === "" ? undefined : segmentsOf(release),
  };
}

/** Returns runs of digits and of letters, tildes and carets. Everything else only separates. */
function segmentsOf(text: string): readonly string[] {
  return text.match(/[0-9]+|[A-Za-z]+|[~^]/g) ?? [];
}

function compareSegments(left: readonly string[], right: readonly string[]): number {
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const order = compareSegment(left[i], right[i]);
    if (order !== 0) return order;
  }
  return 0;
}

/** A tilde is before the end; a caret is after the end, and before every other segment. */
function compareSegment(a: string | undefined, b: string | undefined): number {
  const order = rankOf(a) - rankOf(b);
  if (order !== 0 || a === undefined || b === undefined) return order;
  return isDigits(a) ? compareDigits(a, b) : compareTexts(a, b);
}

function rankOf(segment: string | undefined): number {
  if (segment === "~") return 0;
  if (segment === undefined) return 1;
  if (segment === "^") return 2;
  return isDigits(segment) ? 4 : 3;
}
