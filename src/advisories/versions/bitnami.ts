// Versions of Bitnami: https://github.com/bitnami/go-version. They are versions of SemVer, with revisions in place of pre-releases.
import { compareIdentifier, compareSemver } from "./semver.ts";
import { compareLists } from "./texts.ts";

/** Compares versions, then revisions: 1.2.3-1 is after 1.2.3. Undefined if one of them is not a version. */
export function compareBitnami(a: string, b: string): number | undefined {
  const [left, right] = [parse(a), parse(b)];
  const order = compareSemver(left.version, right.version);
  return order === 0 ? compareLists(left.revision, right.revision, compareIdentifier) : order;
}

function parse(text: string) {
  const [version = "", ...revision] = text.trim().replace(/\+.*$/s, "").split("-");
  return { version, revision: revision.length === 0 ? [] : revision.join("-").split(".") };
}
