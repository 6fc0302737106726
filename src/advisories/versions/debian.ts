// Versions of Debian packages: deb-version(7), "Sorting algorithm".
import { keepParses } from "./kept-parses.ts";
import { compareDigits, splitEpoch } from "./texts.ts";

/** Compares epoch, upstream version and revision. */
export function compareDebian(a: string, b: string): number {
  const [left, right] = [parseKept(a)!, parseKept(b)!];
  return (
    compareDigits(left.epoch, right.epoch) ||
    comparePart(left.upstream, right.upstream) ||
    comparePart(left.revision, right.revision)
  );
}

const parseKept = keepParses(parse);

function parse(version: string) {
  const [epoch, rest] = splitEpoch(version.trim());
  const hyphen = rest.lastIndexOf("-");
  // Without a revision it is 0, which the empty text is equal to.
  return hyphen === -1
    ? { epoch, upstream: piecesOf(rest), revision: piecesOf("") }
    : { epoch, upstream: piecesOf(rest.slice(0, hyphen)), revision: piecesOf(rest.slice(hyphen + 1)) };
}

/** A part of a version without digits, and the digits after it. */
interface Piece {
  readonly text: string;
  readonly digits: string;
}

const nothing: Piece = { text: "", digits: "" };

function piecesOf(part: string): Piece[] {
  return Array.from(part.matchAll(/([^0-9]+)([0-9]*)|([0-9]+)/g), ([, text = "", after = "", only = ""]) => ({
    text,
    digits: after + only,
  }));
}

/** Compares the leading part without digits, then the digits after it, and so on. */
function comparePart(left: readonly Piece[], right: readonly Piece[]): number {
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const [a, b] = [left[i] ?? nothing, right[i] ?? nothing];
    const order = compareNonDigits(a.text, b.text) || compareDigits(a.digits, b.digits);
    if (order !== 0) return order;
  }
  return 0;
}

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
