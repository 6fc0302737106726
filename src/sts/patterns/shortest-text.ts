// The shortest texts that a pattern matches, for examples of what a rule lets in.
import { RE2JS } from "re2js";
import { type PatternNode, parsePattern } from "./syntax.ts";

const ascii = Array.from({ length: 94 }, (_, code) => String.fromCharCode(33 + code));

/** The characters that stand for a set, by preference: delimiters first, so a text shows where it is open. */
const preferred = [...new Set([...".-_a0A", ...ascii])];

/** The same for texts that must be well-formed, such as issuers. */
const preferredWords = [...new Set([..."ab01AB", ...preferred])];

/** Chooses among the texts that a pattern matches. */
export interface TextChoice {
  /** Whether each set of characters with several is another one of them than without. */
  readonly isSecond?: boolean;
  /** The index of the alternative of each choice; the last one of a choice that has fewer. */
  readonly alternative?: number;
  /** Whether what may be repeated and may be absent is there once, as a letter or digit if it may be one. */
  readonly isFilled?: boolean;
}

/**
 * Returns a shortest text that a pattern matches, with one member of each set of characters. Undefined if the pattern
 * cannot be parsed. Assertions are not regarded, so the pattern may not match the text.
 *
 * For `repo:acme/app-.+` returns `repo:acme/app-.`, with `isSecond` `repo:acme/app--`, and with `isFilled`
 * `repo:acme/app-a`.
 */
export function shortestText(pattern: string, choice: TextChoice = {}): string | undefined {
  const parsed = parsePattern(pattern);
  return parsed && textOf(parsed.root, choice);
}

function textOf(node: PatternNode, choice: TextChoice): string {
  const { alternative = 0, isFilled = false } = choice;
  switch (node.kind) {
    case "literal":
      return node.text;
    case "set":
      return memberOf(node.text, choice);
    case "flags":
      return "";
    case "sequence":
      return node.items.map((item) => textOf(item, choice)).join("");
    case "choice":
      return textOf(node.items[Math.min(alternative, node.items.length - 1)]!, choice);
    case "repeat":
      return textOf(node.item, choice).repeat(Math.max(node.min, isFilled && node.max > 0 ? 1 : 0));
  }
}

function memberOf(set: string, { isSecond = false, isFilled = false }: TextChoice): string {
  const regex = RE2JS.compile(set);
  const [first, other] = (isFilled ? preferredWords : preferred).filter((char) => regex.testExact(char));
  return (isSecond ? (other ?? first) : first) ?? "";
}
