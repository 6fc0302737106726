import type { JsonValue } from "@bufbuild/protobuf";
import { invalidField } from "../../aip/errors.ts";
import { clip } from "./violations.ts";

/** Where a violation says that the body as a whole is wrong. */
export const bodyField = "body";

/**
 * Parses the bytes of a JSON body; throws INVALID_ARGUMENT about `body`.
 *
 * Stricter than JSON.parse: RFC 8259 §8.1 (UTF-8 without byte order mark), RFC 7493 §2.3 (no member twice in an object),
 * and no more than `maxDepth` arrays and objects in one another.
 */
export function parseJsonText(bytes: Uint8Array, maxDepth: number): JsonValue {
  const text = decodeUtf8(bytes, bodyField);
  if (text.startsWith("\uFEFF")) throw invalidField(bodyField, "must not begin with a byte order mark");
  checkStructure(text, maxDepth);
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw invalidField(bodyField, "is not valid JSON");
  }
}

/** Decodes UTF-8 and keeps a byte order mark; throws INVALID_ARGUMENT about the field. */
export function decodeUtf8(bytes: Uint8Array, field: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalidField(field, "must be UTF-8");
  }
}

/** Looks at brackets and member names only; what is no JSON at all passes and is left to the parser. */
function checkStructure(text: string, maxDepth: number): void {
  // The names seen so far in each open object; arrays keep theirs empty.
  const open: Set<string>[] = [];
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') at = checkString(text, at, open.at(-1));
    else if (char === "{" || char === "[") {
      if (open.push(new Set()) > maxDepth)
        throw invalidField(bodyField, `must not be nested deeper than ${maxDepth} levels`);
    } else if (char === "}" || char === "]") open.pop();
  }
}

/** Answers the index of the closing quote. A string before a colon is a member's name. */
function checkString(text: string, start: number, names: Set<string> | undefined): number {
  const end = endOfString(text, start);
  let next = end + 1;
  while (next < text.length && " \t\n\r".includes(text[next]!)) next++;
  if (text[next] === ":" && names) addName(names, text.slice(start, end + 1));
  return end;
}

function addName(names: Set<string>, literal: string): void {
  const name = literal.includes("\\") ? unescaped(literal) : literal.slice(1, -1);
  if (names.has(name)) throw invalidField(bodyField, `must not have the member "${clip(name)}" twice`);
  names.add(name);
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
