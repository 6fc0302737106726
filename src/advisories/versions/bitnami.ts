// Versions of Bitnami: https://github.com/bitnami/go-version. They are versions of SemVer, with revisions in place of pre-releases.
import semver from "semver";
import { compareSemver } from "./semver.ts";

/** Compares versions, then revisions: 1.2.3-1 is after 1.2.3. Undefined if one of them is not a version. */
export function compareBitnami(a: string, b: string): number | undefined {
  const [left, right] = [parse(a), parse(b)];
  const order = compareSemver(left.version, right.version);
  if (order !== 0) return order;
  for (let i = 0; i < Math.min(left.revision.length, right.revision.length); i++) {
    const compared = semver.compareIdentifiers(left.revision[i]!, right.revision[i]!);
    if (compared !== 0) return compared;
  }
  return left.revision.length - right.revision.length;
}

function parse(text: string) {
  const [version = "", ...revision] = text.trim().replace(/\+.*$/s, "").split("-");
  return { version, revision: revision.length === 0 ? [] : revision.join("-").split(".") };
}
