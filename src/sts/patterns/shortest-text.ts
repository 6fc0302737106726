// The shortest texts that a pattern matches, for examples of what a rule lets in.
import { RE2JS } from "re2js";
import { type PatternNode, parsePattern } from "./syntax.ts";

const ascii = Array.from({ length: 94 }, (_, code) => String.fromCharCode(33 + code));

/** The characters that stand for a set, by preference: delimiters first, so a text shows where it is open. */
const preferred = [...new Set([...".-_a0A", ...ascii])];

/**
 * Returns a shortest text that a pattern matches. A set of characters is one of them; `second` chooses another one of
 * each set that has several. Undefined if the pattern cannot be parsed. Assertions are not regarded, so the pattern may
 * not match the text.
 *
 * For `repo:acme/app-.+` returns `repo:acme/app-.`, and the second is `repo:acme/app--`.
 */
export function shortestText(pattern: string, second = false): string | undefined {
  const parsed = parsePattern(pattern);
  return parsed && textOf(parsed.root, second);
}

function textOf(node: PatternNode, second: boolean): string {
  switch (node.kind) {
    case "literal":
      return node.text;
    case "set":
      return memberOf(node.text, second);
    case "flags":
      return "";
    case "sequence":
      return node.items.map((item) => textOf(item, second)).join("");
    case "choice":
      return textOf(node.items[0]!, second);
    case "repeat":
      return textOf(node.item, second).repeat(node.min);
  }
}

function memberOf(set: string, second: boolean): string {
  const regex = RE2JS.compile(set);
  const [first, other] = preferred.filter((char) => regex.testExact(char));
  return (second ? (other ?? first) : first) ?? "";
}
