// JSON that others wrote, without losing anything of it: no number is rounded, and no member is read that another one hides.
import { parseExactly } from "../base/json.ts";
import { BadDocument } from "./document.ts";

/** The characters that JSON has outside of strings. */
const code = { quote: 34, colon: 58, open: [91, 123], close: [93, 125], backslash: 92 } as const;

/**
 * Parses JSON. Throws a BadDocument when it is nested deeper than `depth` or when an object has a member twice, since parsers
 * disagree about which one counts (RFC 8259 §4). Other than `parseExactly`, it takes no longer than JSON.parse for a text whose
 * numbers JavaScript can write.
 */
export function parseJson(text: string, depth: number): unknown {
  const found = scan(text, depth);
  const value: unknown = JSON.parse(text);
  if (membersOf(value) !== found.members) throw new BadDocument(`has a member twice: ${repeatedMember(text)}`);
  return found.isExact ? value : parseExactly(text);
}

interface Scanned {
  members: number;
  /** Whether JavaScript writes each number as it stands in the text. */
  isExact: boolean;
}

function scan(text: string, depth: number): Scanned {
  const scanned: Scanned = { members: 0, isExact: true };
  let nested = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === code.quote) at = endOfString(text, at);
    else if (char === code.colon) scanned.members++;
    else if (char === code.open[0] || char === code.open[1]) {
      if (++nested > depth) throw new BadDocument(`is nested more than ${depth} deep`);
    } else if (char === code.close[0] || char === code.close[1]) nested--;
    else if (isNumeric(char)) {
      const end = endOfNumber(text, at);
      const source = text.slice(at, end);
      if (String(Number(source)) !== source) scanned.isExact = false;
      at = end - 1;
    }
  }
  return scanned;
}

/** Returns the index of the closing quote of the string that opens at `start`; the end of the text if there is none. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === code.backslash) first--;
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}

/** Returns whether a number can begin with the character: a digit or the minus sign. */
function isNumeric(char: number): boolean {
  return (char >= 48 && char <= 57) || char === 45;
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  // Also a point, a plus sign and the letter of an exponent.
  while (isNumeric(text.charCodeAt(end)) || [43, 46, 69, 101].includes(text.charCodeAt(end))) end++;
  return end;
}

/** Returns the number of members of all objects in a value. */
function membersOf(value: unknown): number {
  let members = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== "object" || next === null) continue;
    const values = Object.values(next);
    if (!Array.isArray(next)) members += values.length;
    for (const each of values) if (typeof each === "object") open.push(each);
  }
  return members;
}

/** Returns the first member that an object has twice, with its line. */
function repeatedMember(text: string): string {
  const objects: Set<string>[] = [];
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === code.open[0] || char === code.open[1]) objects.push(new Set());
    else if (char === code.close[0] || char === code.close[1]) objects.pop();
    else if (char === code.quote) {
      const end = endOfString(text, at);
      if (/^\s*:/.test(text.slice(end + 1, end + 100))) {
        const name = JSON.parse(text.slice(at, end + 1)) as string;
        if (objects.at(-1)?.has(name)) return `${JSON.stringify(name)} in line ${text.slice(0, at).split("\n").length}`;
        objects.at(-1)?.add(name);
      }
      at = end;
    }
  }
  return "with much space before its colon";
}
