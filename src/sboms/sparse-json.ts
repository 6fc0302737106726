// Parses JSON of strangers in little memory: it reads the bytes, and keeps only some members. JSON.parse would make a text of them first, and
// values of all members, of which a small document can have so many that the process ends: within JSON.parse, V8 does not heed the memory
// limit of a thread.
import { BadDocument } from "../advisories/document.ts";
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

/**
 * Parses JSON in UTF-8, and keeps the members with these names. Throws a SyntaxError for bytes that are not JSON, also in what is not kept,
 * and a BadDocument for an object that has a member twice, or beyond a limit. A byte order mark is skipped.
 */
export function parseSparsely(bytes: Buffer, kept: ReadonlySet<string>, limits: SparseLimits): unknown {
  const parser = new SparseParser(bytes, kept, limits);
  return parser.parse();
}

const byteOrderMark = Buffer.from("\uFEFF");

/** The characters that have a meaning, all of them of ASCII: no byte of another character is like one of theirs. */
const code = { quote: 34, comma: 44, colon: 58, backslash: 92, u: 117 } as const;
const open = { list: 91, object: 123 } as const;
const close = { list: 93, object: 125 } as const;

/** The characters that may follow a backslash, with the exception of `u`. */
const escapes: ReadonlySet<number> = new Set(Array.from('"\\/bfnrt', (character) => character.charCodeAt(0)));

/** The characters of numbers, `true`, `false` and `null`. */
const literalCharacters: ReadonlySet<number> = new Set(Buffer.from("+-.0123456789Eaeflnrstu"));
const literal = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;
const hexadecimal = /^[0-9a-fA-F]{4}$/;

class SparseParser {
  readonly #bytes: Buffer;
  readonly #kept: ReadonlySet<string>;
  readonly #limits: SparseLimits;
  #at: number;
  #values = 0;

  constructor(bytes: Buffer, kept: ReadonlySet<string>, limits: SparseLimits) {
    this.#bytes = bytes;
    this.#at = bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? byteOrderMark.length : 0;
    this.#kept = kept;
    this.#limits = limits;
  }

  parse(): unknown {
    const value = this.#value(true, 0);
    this.#skipSpace();
    if (this.#at < this.#bytes.length) throw new SyntaxError();
    return value;
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
      const value = this.#value(isKept && this.#kept.has(name), depth);
      if (value !== undefined) found[name] = value;
    }
    return isKept ? found : undefined;
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
    if (this.#peek() !== code.quote) throw new SyntaxError();
    const name = this.#string(true)!;
    if (names.has(name)) throw new BadDocument(`has a member twice: ${JSON.stringify(name)} in line ${this.#line()}`);
    if (names.size === this.#limits.members)
      throw new BadDocument(`has an object with more than ${this.#limits.members} members`);
    names.add(name);
    this.#peek();
    this.#expect(code.colon);
    return name;
  }

  #string(isKept: boolean): string | undefined {
    const bytes = this.#bytes;
    const start = this.#at;
    let isPlain = true;
    for (let at = start + 1; ; at++) {
      const next = bytes[at];
      if (next === code.quote) {
        this.#at = at + 1;
        if (!isKept) return undefined;
        return isPlain ? bytes.toString("utf8", start + 1, at) : JSON.parse(bytes.toString("utf8", start, at + 1));
      }
      // Also at the end of the bytes.
      if (next === undefined || next < 32) throw new SyntaxError();
      if (next === code.backslash) {
        isPlain = false;
        at = this.#endOfEscape(at + 1);
      }
    }
  }

  #endOfEscape(at: number): number {
    const kind = this.#bytes[at];
    if (kind !== undefined && escapes.has(kind)) return at;
    if (kind !== code.u || !hexadecimal.test(this.#bytes.toString("latin1", at + 1, at + 5))) throw new SyntaxError();
    return at + 4;
  }

  /** Returns a number or a word as it is written. */
  #literal(): string {
    const start = this.#at;
    while (literalCharacters.has(this.#bytes[this.#at] ?? 0)) this.#at++;
    const source = this.#bytes.toString("latin1", start, this.#at);
    if (!literal.test(source)) throw new SyntaxError();
    return source;
  }

  #expect(character: number): void {
    if (this.#bytes[this.#at] !== character) throw new SyntaxError();
    this.#at += 1;
  }

  /** Goes to the next character that is not space, and returns it; undefined at the end. */
  #peek(): number | undefined {
    this.#skipSpace();
    return this.#bytes[this.#at];
  }

  #skipSpace(): void {
    for (; ; this.#at++) {
      const next = this.#bytes[this.#at];
      if (next !== 32 && next !== 10 && next !== 13 && next !== 9) return;
    }
  }

  #line(): number {
    let line = 1;
    for (let at = this.#bytes.indexOf(10); at >= 0 && at < this.#at; at = this.#bytes.indexOf(10, at + 1)) line++;
    return line;
  }
}
