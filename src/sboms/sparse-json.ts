// Parses JSON of strangers in little memory: it keeps only some members. JSON.parse would make values of all the others, of which a small
// document can have so many that the process ends: within JSON.parse, V8 does not heed the memory limit of a thread.
import { BadDocument } from "../advisories/document.ts";
import type { JsonObject } from "../base/json.ts";

/** Limits of a text. */
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
 * Parses JSON, and keeps the members with these names. Throws a SyntaxError for text that is not JSON, also in what is not kept, and a
 * BadDocument for an object that has a member twice, or beyond a limit.
 */
export function parseSparsely(text: string, kept: ReadonlySet<string>, limits: SparseLimits): unknown {
  const parser = new SparseParser(text, kept, limits);
  return parser.parse();
}

/** The characters that have a meaning. */
const code = { quote: 34, comma: 44, colon: 58, backslash: 92, u: 117 } as const;
const open = { list: 91, object: 123 } as const;
const close = { list: 93, object: 125 } as const;

/** The characters that may follow a backslash, with the exception of `u`. */
const escapes: ReadonlySet<number> = new Set(Array.from('"\\/bfnrt', (character) => character.charCodeAt(0)));

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const word = /true|false|null/y;
const hexadecimal = /[0-9a-fA-F]{4}/y;

class SparseParser {
  readonly #text: string;
  readonly #kept: ReadonlySet<string>;
  readonly #limits: SparseLimits;
  #at = 0;
  #values = 0;

  constructor(text: string, kept: ReadonlySet<string>, limits: SparseLimits) {
    this.#text = text;
    this.#kept = kept;
    this.#limits = limits;
  }

  parse(): unknown {
    const value = this.#value(true, 0);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw new SyntaxError();
    return value;
  }

  /** Returns undefined for a value that is not kept. */
  #value(isKept: boolean, depth: number): unknown {
    if (isKept && ++this.#values > this.#limits.values) throw new BadDocument("needs more memory than a document may");
    const first = this.#peek();
    if (first === open.object) return this.#object(isKept, this.#deeper(depth));
    if (first === open.list) return this.#list(isKept, this.#deeper(depth));
    if (first === code.quote) return this.#string(isKept);
    const source = this.#match(number) ?? this.#match(word);
    if (source === undefined) throw new SyntaxError();
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
    const text = this.#text;
    const start = this.#at;
    let isPlain = true;
    for (let at = start + 1; ; at++) {
      const next = text.charCodeAt(at);
      if (next === code.quote) {
        this.#at = at + 1;
        if (!isKept) return undefined;
        return isPlain ? text.slice(start + 1, at) : JSON.parse(text.slice(start, at + 1));
      }
      // Not a number at the end of the text.
      if (!(next >= 32)) throw new SyntaxError();
      if (next === code.backslash) {
        isPlain = false;
        at = this.#endOfEscape(at + 1);
      }
    }
  }

  #endOfEscape(at: number): number {
    const kind = this.#text.charCodeAt(at);
    if (escapes.has(kind)) return at;
    hexadecimal.lastIndex = at + 1;
    if (kind !== code.u || !hexadecimal.test(this.#text)) throw new SyntaxError();
    return at + 4;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const source = pattern.exec(this.#text)?.[0];
    if (source !== undefined) this.#at += source.length;
    return source;
  }

  #expect(character: number): void {
    if (this.#text.charCodeAt(this.#at) !== character) throw new SyntaxError();
    this.#at += 1;
  }

  /** Goes to the next character that is not space, and returns it. */
  #peek(): number {
    this.#skipSpace();
    return this.#text.charCodeAt(this.#at);
  }

  #skipSpace(): void {
    for (; ; this.#at++) {
      const next = this.#text.charCodeAt(this.#at);
      if (next !== 32 && next !== 10 && next !== 13 && next !== 9) return;
    }
  }

  #line(): number {
    let line = 1;
    for (let at = this.#text.indexOf("\n"); at >= 0 && at < this.#at; at = this.#text.indexOf("\n", at + 1)) line++;
    return line;
  }
}
