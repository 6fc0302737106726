import type { JsonValue } from "@bufbuild/protobuf";
import { invalidField } from "../../aip/errors.ts";
import { clip } from "../../base/clip.ts";
import { maxValues } from "../http/message-size.ts";
import { decodeUtf8 } from "../http/request-body.ts";

/** The field of violations that concern the whole body. */
export const bodyField = "body";

/** The most members of one object: objects with many distinct names take the longest to parse. */
const maxMembers = 10_000;

/**
 * Parses a JSON body. Throws INVALID_ARGUMENT for `body`.
 *
 * Stricter than JSON.parse: RFC 8259 §8.1 (UTF-8 without byte order mark), RFC 7493 §2.3 (no member twice in an object),
 * arrays and objects nested at most `maxDepth` deep, at most 10,000 members in an object, and at most
 * 200,000 values.
 */
export function parseJsonText(bytes: Uint8Array, maxDepth: number): JsonValue {
  const text = decodeUtf8(bytes, bodyField);
  if (text.startsWith("\uFEFF")) throw bodyError("must not begin with a byte order mark");
  checkStructure(text, maxDepth);
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw bodyError("is not valid JSON");
  }
}

/** The names in each open object; undefined for arrays, and for objects without a name so far. */
type Open = (Set<string> | undefined)[];

const [quote, comma, colon] = [0x22, 0x2c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Checks punctuation and member names only; the parser finds other syntax errors. */
function checkStructure(text: string, maxDepth: number): void {
  const open: Open = [];
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === quote) at = checkString(text, at, open);
    else if (char === openBrace || char === openBracket) {
      if (open.push(undefined) > maxDepth) throw bodyError(`must not be nested deeper than ${maxDepth} levels`);
      values++;
    } else if (char === closeBrace || char === closeBracket) open.pop();
    else if (char === comma) values++;
    if (values > maxValues) throw bodyError(`must not hold more than ${maxValues} values`);
  }
}

/** Returns the index of the closing quote. A string before a colon is a member name. */
function checkString(text: string, start: number, open: Open): number {
  const end = endOfString(text, start);
  let next = end + 1;
  while (text.charCodeAt(next) <= 0x20) next++;
  if (text.charCodeAt(next) === colon && open.length > 0) addName(open, text.slice(start, end + 1));
  return end;
}

function addName(open: Open, literal: string): void {
  const names = open.at(-1) ?? new Set<string>();
  const name = literal.includes("\\") ? unescaped(literal) : literal.slice(1, -1);
  if (names.has(name)) throw bodyError(`must not have the member "${clip(name)}" twice`);
  if (names.size === maxMembers) throw bodyError(`must not have more than ${maxMembers} members in one object`);
  open[open.length - 1] = names.add(name);
}

function bodyError(problem: string): Error {
  return invalidField(bodyField, problem);
}

function unescaped(literal: string): string {
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal;
  }
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text[at - 1 - slashes] === "\\") slashes++;
  return slashes % 2 === 1;
}
