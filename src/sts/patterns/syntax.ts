// Parses the structure of RE2 patterns for rules about them. Validity and matching are left to RE2:
// https://github.com/google/re2/wiki/Syntax.

/** A part of a pattern; `at` is the index of its text in the pattern. */
export type PatternNode =
  | { readonly kind: "literal"; readonly text: string; readonly at: number }
  /** A set of characters: `.`, an escape or a class. */
  | { readonly kind: "set"; readonly text: string; readonly at: number }
  | { readonly kind: "flags"; readonly text: string; readonly at: number }
  | { readonly kind: "sequence" | "choice"; readonly items: readonly PatternNode[] }
  | { readonly kind: "repeat"; readonly item: PatternNode; readonly min: number; readonly max: number };

/** A parsed pattern, and the nesting depth of its groups. */
export interface ParsedPattern {
  readonly root: PatternNode;
  readonly depth: number;
}

interface Reader {
  readonly text: string;
  at: number;
  depth: number;
  deepest: number;
}

const quoted = /\\Q([\s\S]*?)(?:\\E|$)/y;
const assertion = /\^|\$|\\[AzbB]/y;
const escaped = /\\(?:x\{[^}]*\}|x[0-9A-Fa-f]{2}|[pP]\{[^}]*\}|[pP].|[0-7]{1,3}|[\s\S])/uy;
// A `]` right after the start belongs to the class; `[:` opens a named class only if `:]` follows.
const bracketed = /\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]/uy;
const groupStart = /\((?:\?(?:P?<[^>]*>|([A-Za-z-]*)([:)])))?/y;
const repetition = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y;

/** Parses a pattern. Returns undefined if it is not well-formed. Recursion is as deep as its groups nest. */
export function parsePattern(text: string): ParsedPattern | undefined {
  const reader: Reader = { text, at: 0, depth: 0, deepest: 0 };
  const root = readChoice(reader);
  return reader.at === text.length ? { root, depth: reader.deepest } : undefined;
}

/** Estimates the number of instructions of a pattern with its repetitions written out. */
export function patternSize(node: PatternNode): number {
  switch (node.kind) {
    case "sequence":
    case "choice":
      return node.items.reduce((sum, item) => sum + patternSize(item), node.items.length);
    case "repeat":
      return 1 + patternSize(node.item) * Math.max(1, node.max === Number.POSITIVE_INFINITY ? node.min : node.max);
    default:
      return 1;
  }
}

function readChoice(reader: Reader): PatternNode {
  const items = [readSequence(reader)];
  while (reader.text[reader.at] === "|") {
    reader.at++;
    items.push(readSequence(reader));
  }
  return items.length === 1 ? items[0]! : { kind: "choice", items };
}

function readSequence(reader: Reader): PatternNode {
  const items: PatternNode[] = [];
  while (reader.at < reader.text.length && !"|)".includes(reader.text[reader.at]!)) {
    items.push(...readRepeat(reader));
  }
  return { kind: "sequence", items };
}

function readRepeat(reader: Reader): PatternNode[] {
  const parts = readPart(reader);
  const found = take(reader, repetition);
  if (!found) return parts;
  // A repetition applies to the last part, and to the last character of a quotation.
  const [, sign, least, comma, most] = found;
  const min = sign ? (sign === "+" ? 1 : 0) : Number(least);
  const unbounded = sign ? sign !== "?" : comma !== "" && most === "";
  const max = unbounded ? Number.POSITIVE_INFINITY : sign ? 1 : Number(most || least);
  const item = parts.pop() ?? { kind: "sequence", items: [] };
  return [...parts, { kind: "repeat", item, min, max }];
}

function readPart(reader: Reader): PatternNode[] {
  const { at } = reader;
  const quotation = take(reader, quoted);
  if (quotation) return [...quotation[1]!].map((text) => ({ kind: "literal", text, at }));
  if (take(reader, assertion)) return [];
  if (reader.text[at] === "(") return [readGroup(reader)];
  const set = take(reader, escaped) ?? take(reader, bracketed);
  if (set) return [{ kind: "set", text: set[0], at }];
  const text = String.fromCodePoint(reader.text.codePointAt(at)!);
  reader.at += text.length;
  return [{ kind: text === "." ? "set" : "literal", text, at }];
}

function readGroup(reader: Reader): PatternNode {
  const { at } = reader;
  const [start, flags = "", end] = take(reader, groupStart)!;
  const marks: PatternNode[] = flags === "" ? [] : [{ kind: "flags", text: start, at }];
  if (end === ")") return { kind: "sequence", items: marks };
  reader.deepest = Math.max(reader.deepest, ++reader.depth);
  const content = readChoice(reader);
  reader.depth--;
  if (reader.text[reader.at] === ")") reader.at++;
  return { kind: "sequence", items: [...marks, content] };
}

function take(reader: Reader, pattern: RegExp): RegExpExecArray | undefined {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.text) ?? undefined;
  if (found) reader.at = pattern.lastIndex;
  return found;
}
