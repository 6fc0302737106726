// Versions of Debian packages: deb-version(7), "Sorting algorithm".
import { compareDigits, splitEpoch } from "./texts.ts";

/** Compares epoch, upstream version and revision. */
export function compareDebian(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)];
  return (
    compareDigits(left.epoch, right.epoch) ||
    comparePart(left.upstream, right.upstream) ||
    comparePart(left.revision, right.revision)
  );
}

function parse(version: string) {
  const [epoch, rest] = splitEpoch(version.trim());
  const hyphen = rest.lastIndexOf("-");
  // Without a revision it is 0, which the empty text is equal to.
  return hyphen === -1
    ? { epoch, upstream: rest, revision: "" }
    : { epoch, upstream: rest.slice(0, hyphen), revision: rest.slice(hyphen + 1) };
}

/** Compares the leading part without digits, then the digits after it, and so on. */
function comparePart(a: string, b: string): number {
  const [left, right] = [a.match(parts) ?? [], b.match(parts) ?? []];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const [, l = "", lDigits = ""] = part.exec(left[i] ?? "") ?? [];
    const [, r = "", rDigits = ""] = part.exec(right[i] ?? "") ?? [];
    const order = compareNonDigits(l, r) || compareDigits(lDigits, rDigits);
    if (order !== 0) return order;
  }
  return 0;
}

const parts = /[^0-9]+[0-9]*|[0-9]+/g;
const part = /^([^0-9]*)([0-9]*)$/;

function compareNonDigits(a: string, b: string): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const order = weightOf(a[i]) - weightOf(b[i]);
    if (order !== 0) return order;
  }
  return 0;
}

/** A tilde is before the end of the part, and letters are before everything else. */
function weightOf(letter: string | undefined): number {
  if (letter === undefined) return 0;
  if (letter === "~") return -1;
  return /[A-Za-z]/.test(letter) ? letter.charCodeAt(0) : letter.charCodeAt(0) + 0x10000;
}
