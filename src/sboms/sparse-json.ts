// Parses JSON of strangers in little memory: it reads bytes as they come, and keeps only some members. JSON.parse would need a text of all of
// them first, and make values of all members, of which a small document can have so many that the process ends: within JSON.parse, V8 does
// not heed the memory limit of a thread.
import { StringDecoder } from "node:string_decoder";
import { BadDocument } from "../advisories/document.ts";
import { clip } from "../base/clip.ts";
import type { JsonObject } from "../base/json.ts";

/** Limits of a document. */
export interface SparseLimits {
  readonly depth: number;
  /** Values that are kept. */
  readonly values: number;
  /** Members of one object. */
  readonly members: number;
  /** Items of one list that is kept. */
  readonly items: number;
}

/** The names of members that are kept, wherever they are. */
export interface SparseMembers {
  readonly kept: ReadonlySet<string>;
  /** Of these, a text is JSON in base64, such as the payload of an envelope: its value is kept, and undefined if it is not JSON. */
  readonly embedded: ReadonlySet<string>;
}

/** Returns the next bytes of a document, and undefined at its end. The bytes that it returned before may be gone then. */
export type NextBytes = () => Buffer | undefined;

/**
 * Parses JSON in UTF-8, and keeps the named members. Throws a SyntaxError for bytes that are not JSON, also in what is not kept,
 * and a BadDocument for an object that has a member twice, or beyond a limit. A byte order mark is skipped. Reads to the end.
 */
export function parseSparsely(next: NextBytes, members: SparseMembers, limits: SparseLimits): unknown {
  const parser = new SparseParser(next, members, limits);
  return parser.parse();
}

const byteOrderMark = Buffer.from("\uFEFF");

/** The characters that have a meaning, all of them of ASCII: no byte of another character is like one of theirs. */
const code = { quote: 34, comma: 44, colon: 58, backslash: 92, u: 117 } as const;
const open = { list: 91, object: 123 } as const;
const close = { list: 93, object: 125 } as const;

/** The characters that may follow a backslash, with the exception of `u`. */
const escapes: ReadonlySet<number> = new Set(Array.from('"\\/bfnrt', (character) => character.charCodeAt(0)));
const hexadecimal: ReadonlySet<number> = new Set(Buffer.from("0123456789abcdefABCDEF"));

/** Stands for the character after a backslash, which says how many others follow it. */
const kind = 5;

/**
 * Returns how many characters of an escape are missing after a character of a string, or `kind` after a backslash; `missing` is how many
 * were missing before it. Throws a SyntaxError if it may not be there.
 */
function missingAfter(character: number, missing: number): number {
  if (missing === 0 && character >= 32) return character === code.backslash ? kind : 0;
  if (missing === kind && character === code.u) return 4;
  if (missing === kind && escapes.has(character)) return 0;
  if (missing > 0 && missing < kind && hexadecimal.has(character)) return missing - 1;
  throw new SyntaxError();
}

/** The characters of numbers, `true`, `false` and `null`. */
const literalCharacters: ReadonlySet<number> = new Set(Buffer.from("+-.0123456789Eaeflnrstu"));
const literal = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

/** A string that is being read. */
interface OpenString {
  /** How many characters of an escape are missing. */
  missing: number;
  /** True before the first escape: the source is the text. */
  isPlain: boolean;
  /** True after the first part: only the decoder may read the next ones. */
  isSplit: boolean;
  isEnd: boolean;
}

/** Returns the text of the source of a string. */
function unescaped(source: string, { isPlain }: OpenString): string {
  return isPlain ? source : JSON.parse(`"${source}"`);
}

class SparseParser {
  readonly #next: NextBytes;
  readonly #members: SparseMembers;
  readonly #limits: SparseLimits;
  readonly #decoder = new StringDecoder("utf8");
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #isEnd = false;
  #values = 0;
  /** The lines that end before the current bytes. */
  #lines = 0;

  constructor(next: NextBytes, members: SparseMembers, limits: SparseLimits) {
    this.#next = next;
    this.#members = members;
    this.#limits = limits;
  }

  parse(): unknown {
    if (this.#current() === byteOrderMark[0]) for (const byte of byteOrderMark) this.#expect(byte);
    const value = this.#value(true, 0);
    if (this.#peek() !== undefined) throw new SyntaxError();
    return value;
  }

  /** Returns the byte at the current place; undefined at the end. */
  #current(): number | undefined {
    while (this.#at === this.#bytes.length && !this.#isEnd) this.#advance();
    return this.#bytes[this.#at];
  }

  #advance(): void {
    this.#lines = this.#linesBefore(this.#at);
    const next = this.#next();
    this.#isEnd = next === undefined;
    this.#bytes = next ?? Buffer.alloc(0);
    this.#at = 0;
  }

  /** Returns undefined for a value that is not kept. */
  #value(isKept: boolean, depth: number): unknown {
    if (isKept && ++this.#values > this.#limits.values) throw new BadDocument("needs more memory than a document may");
    const first = this.#peek();
    if (first === open.object) return this.#object(isKept, this.#deeper(depth));
    if (first === open.list) return this.#list(isKept, this.#deeper(depth));
    if (first === code.quote) return this.#string(isKept);
    const source = this.#literal();
    return isKept ? JSON.parse(source) : undefined;
  }

  #deeper(depth: number): number {
    this.#at += 1;
    if (depth === this.#limits.depth) throw new BadDocument(`is nested more than ${this.#limits.depth} deep`);
    return depth + 1;
  }

  #object(isKept: boolean, depth: number): JsonObject | undefined {
    const found: Record<string, unknown> = {};
    const names = new Set<string>();
    for (let isFirst = true; !this.#ends(close.object, isFirst); isFirst = false) {
      const name = this.#name(names);
      const value = this.#member(name, isKept && this.#members.kept.has(name), depth);
      if (value !== undefined) found[name] = value;
    }
    return isKept ? found : undefined;
  }

  #member(name: string, isKept: boolean, depth: number): unknown {
    if (isKept && this.#members.embedded.has(name) && this.#peek() === code.quote) return this.#embedded();
    return this.#value(isKept, depth);
  }

  #list(isKept: boolean, depth: number): unknown[] | undefined {
    const found: unknown[] = [];
    for (let isFirst = true; !this.#ends(close.list, isFirst); isFirst = false) {
      const value = this.#value(isKept, depth);
      if (!isKept) continue;
      const { items } = this.#limits;
      if (found.push(value) > items) throw new BadDocument(`has a list of more than ${items} items`);
    }
    return isKept ? found : undefined;
  }

  /** Returns whether an object or a list ends here, and otherwise goes behind the comma before the next item. */
  #ends(end: number, isFirst: boolean): boolean {
    const next = this.#peek();
    if (next === end) this.#at += 1;
    else if (!isFirst) this.#expect(code.comma);
    return next === end;
  }

  #name(names: Set<string>): string {
    this.#peek();
    const name = this.#string(true)!;
    if (names.has(name))
      throw new BadDocument(
        `has a member twice: ${JSON.stringify(clip(name))} in line ${this.#linesBefore(this.#at) + 1}`,
      );
    if (names.size === this.#limits.members)
      throw new BadDocument(`has an object with more than ${this.#limits.members} members`);
    names.add(name);
    this.#peek();
    this.#expect(code.colon);
    return name;
  }

  #string(isKept: boolean): string | undefined {
    const string = this.#beginString();
    let source = "";
    while (!string.isEnd) {
      const part = this.#partOf(string, isKept);
      if (isKept) source += part;
    }
    return isKept ? unescaped(source, string) : undefined;
  }

  #beginString(): OpenString {
    this.#expect(code.quote);
    return { missing: 0, isPlain: true, isSplit: false, isEnd: false };
  }

  /** Returns the source of a string as far as the current bytes have it, or no text if it is not kept. */
  #partOf(string: OpenString, isKept: boolean): string {
    if (this.#current() === undefined) throw new SyntaxError();
    const [bytes, start] = [this.#bytes, this.#at];
    let { missing } = string;
    let at = start;
    for (; at < bytes.length && (missing > 0 || bytes[at] !== code.quote); at++) {
      missing = missingAfter(bytes[at]!, missing);
      if (missing > 0) string.isPlain = false;
    }
    string.missing = missing;
    string.isEnd = at < bytes.length;
    this.#at = string.isEnd ? at + 1 : at;
    if (!isKept) return "";
    const isWhole = string.isEnd && !string.isSplit;
    string.isSplit = true;
    // The bytes of a character may come in two parts: the decoder keeps the first of them.
    return isWhole ? bytes.toString("utf8", start, at) : this.#decoder.write(bytes.subarray(start, at));
  }

  /** Parses JSON in a string of base64 as it comes. Returns undefined if it is not JSON. */
  #embedded(): unknown {
    const string = this.#beginString();
    let left = "";
    const next = () => {
      if (string.isEnd) return undefined;
      const source = left + this.#partOf(string, true);
      const end = string.missing > 0 ? source.lastIndexOf("\\") : source.length;
      // Characters outside the alphabet are skipped, as Buffer.from does.
      const text = unescaped(source.slice(0, end), string).replace(/[^\w+/-]/g, "");
      const length = string.isEnd ? text.length : text.length - (text.length % 4);
      left = text.slice(length) + source.slice(end);
      return Buffer.from(text.slice(0, length), "base64");
    };
    try {
      return parseSparsely(next, this.#members, this.#limits);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      while (!string.isEnd) this.#partOf(string, false);
      return undefined;
    }
  }

  /** Returns a number or a word as it is written. */
  #literal(): string {
    let source = "";
    while (literalCharacters.has(this.#current() ?? 0)) {
      const start = this.#at;
      while (literalCharacters.has(this.#bytes[this.#at] ?? 0)) this.#at++;
      source += this.#bytes.toString("latin1", start, this.#at);
    }
    if (!literal.test(source)) throw new SyntaxError();
    return source;
  }

  #expect(character: number): void {
    if (this.#take() !== character) throw new SyntaxError();
  }

  /** Goes behind the current byte, and returns it. */
  #take(): number {
    const taken = this.#current();
    if (taken === undefined) throw new SyntaxError();
    this.#at += 1;
    return taken;
  }

  /** Goes to the next character that is not space, and returns it; undefined at the end. */
  #peek(): number | undefined {
    for (;;) {
      const next = this.#current();
      if (next !== 32 && next !== 10 && next !== 13 && next !== 9) return next;
      this.#at += 1;
    }
  }

  /** Returns how many lines end before a place in the current bytes. */
  #linesBefore(end: number): number {
    let lines = this.#lines;
    for (let at = this.#bytes.indexOf(10); at >= 0 && at < end; at = this.#bytes.indexOf(10, at + 1)) lines++;
    return lines;
  }
}
