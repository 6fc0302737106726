// Versions of CSAF documents as numbers in the same order.

/** A semantic version is a number with five digits for each part, and one that tells pre-releases apart. */
const step = 100_000;

/**
 * Returns the number of a version of CSAF 2.0 §3.1.11: one that is later in a document's history is greater. Undefined if it is not a
 * version. CSAF 2.0 §6.1.30 forbids documents to change from one kind of versions to the other.
 */
export function revisionOf(version: string): number | undefined {
  if (/^\d+$/.test(version)) return Math.min(Number(version), Number.MAX_SAFE_INTEGER);
  const [, ...parts] = /^(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/.exec(version) ?? [];
  if (parts.length === 0) return undefined;
  const [major, minor, patch] = parts.slice(0, 3).map((part) => Math.min(Number(part), step - 1)) as [
    number,
    number,
    number,
  ];
  return ((major * step + minor) * step + patch) * 2 + (parts[3] === undefined ? 1 : 0);
}
