// Patterns that users write, matched against claims of untrusted tokens. RE2 only: its time is linear in the length of
// the value (security case M4). Data is never compiled as a pattern (M8).
import { LRUCache } from "lru-cache";
import { RE2JS, RE2JSException, RE2JSSyntaxException } from "re2js";
import { checkVisible } from "../claim-text.ts";
import { checkIssuerPattern } from "./issuer-pattern.ts";
import { checkReach } from "./issuer-reach.ts";
import type { StepBudget } from "./step-budget.ts";
import { type ParsedPattern, parsePattern, patternSize } from "./syntax.ts";

/** The kinds of values that patterns match. */
export type PatternKind = "issuer" | "subject" | "audience" | "claim" | "arn" | "user_id";

/** The maximum length of a pattern, in UTF-16 units. */
export const maxPatternLength = 1024;

const maxDepth = 32;

/** In instructions. A literal pattern of the maximum length has one per character. */
const maxProgramSize = 1200;

/** In instructions, for all patterns of one identity: an exchange may have to compile each of them. */
const maxProgramsSize = 2 * maxProgramSize;

interface Compiled {
  readonly regex?: RE2JS;
  readonly problem?: string;
}

// A Matcher keeps no states between calls, so the memory of a compiled pattern is bounded by its program.
const compiled = new LRUCache<string, Compiled>({ max: 500 });

/** Returns the rule that a pattern of this kind breaks, without the field's name, or undefined if it is valid. */
export function checkPattern(text: string, kind: PatternKind): string | undefined {
  if (text === "") return "must not be empty";
  const { problem } = compile(text);
  if (problem !== undefined) return problem;
  if (kind !== "issuer") return undefined;
  const { root } = parsePattern(text)!;
  return checkIssuerPattern(root) ?? checkReach(root);
}

/** Returns the rule that valid patterns of one identity break together, or undefined. */
export function checkPatternsTogether(texts: readonly string[]): string | undefined {
  const size = texts.reduce((sum, text) => sum + (compile(text).regex?.programSize() ?? 0), 0);
  if (size <= maxProgramsSize) return undefined;
  return `must not have patterns that stand for more than ${maxProgramsSize} instructions together: these have ${size}`;
}

/**
 * Reports whether the pattern matches the whole value. An invalid pattern matches nothing. Throws PERMISSION_DENIED if
 * the step budget is spent.
 */
export function matchesWhole(pattern: string, value: string, steps: StepBudget): boolean {
  const { regex } = compile(pattern);
  if (pattern === "" || !regex) return false;
  steps.spend(regex.programSize(), value.length);
  return regex.matcher(value).matches();
}

function compile(text: string): Compiled {
  const known = compiled.get(text);
  if (known) return known;
  const result = compileNew(text);
  // Texts that are too long to be valid are not cached either.
  if (text.length <= maxPatternLength) compiled.set(text, result);
  return result;
}

function compileNew(text: string): Compiled {
  if (text.length > maxPatternLength) return { problem: `must be at most ${maxPatternLength} characters long` };
  const hidden = checkVisible(text);
  if (hidden !== undefined) return { problem: hidden };
  const parsed = parsePattern(text);
  // Checked before compiling, whose time grows with the size of the program.
  const problem = parsed && checkSize(parsed);
  if (problem !== undefined) return { problem };
  try {
    // Compiled alone first: `a)|(?:b` is well-formed only when wrapped (security case M1).
    RE2JS.compile(text);
    // One group makes the anchors apply to each alternative; without (?m) they are the ends of the value (M1, M2).
    const regex = RE2JS.compile(`^(?:${text})$`);
    if (regex.programSize() > maxProgramSize) return { problem: tooLarge };
    return parsed ? { regex } : { problem: "must be a plain RE2 pattern" };
  } catch (error) {
    if (error instanceof RE2JSException) return { problem: `must be a valid RE2 pattern: ${explain(error)}` };
    throw error;
  }
}

const tooLarge = `must not repeat so much: it stands for more than ${maxProgramSize} instructions`;

function explain(error: RE2JSException): string {
  return error instanceof RE2JSSyntaxException
    ? `${error.getDescription()} ${error.getPattern() ?? ""}`
    : error.message;
}

function checkSize(parsed: ParsedPattern): string | undefined {
  if (parsed.depth > maxDepth) return `must not nest groups deeper than ${maxDepth}`;
  return patternSize(parsed.root) > 2 * maxProgramSize ? tooLarge : undefined;
}
