// Security case M3: anyone who can serve an issuer that a pattern matches can mint tokens for the identity. So the part
// of a pattern that matches the host must not match any character that ends, splits or redirects a host, and the part
// after it must not match a slash: a host may serve one tenant under another. Only issuers in canonical spelling are
// matched (claim-match.ts).

import { RE2JS } from "re2js";
import type { PatternNode } from "./syntax.ts";

/** The state of reading an issuer: its text while that is the start of a scheme, then in the host, then after the host. */
type Phase = string;
type Phases = ReadonlySet<Phase>;

const host: Phase = "<host>";
const rest: Phase = "<rest>";
const schemes = ["https://", "http://"];

// RFC 3986 §3.2 and the WHATWG URL standard, which reads `\` as `/`, decodes %, and maps full-width forms to ASCII.
const delimiters = [..."/.\\?#@:%。．｡／＼？＃＠：％"];
const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));

// A repetition changes the phase in each of its first rounds or never; there are fewer phases than this.
const rounds = 12;

/** A part of the pattern that is not allowed at its place. */
class Offence extends Error {}

/** Returns the rule that an issuer pattern breaks, with the offending part, or undefined if its hosts are safe. */
export function checkIssuerPattern(root: PatternNode): string | undefined {
  try {
    const ends = walk(root, new Set([""]));
    return [...ends].every((phase) => phase === host || phase === rest) ? undefined : mustBegin;
  } catch (error) {
    if (error instanceof Offence) return error.message;
    throw error;
  }
}

const mustBegin = 'must begin with a literal "https://"';

const forSegment = '"[^/]" for what may differ between two slashes';

const forName = '"[a-z0-9-]+" for what may differ between two dots';

/** Returns the phases that are possible after the part, from the phases before it. */
function walk(node: PatternNode, before: Phases): Phases {
  switch (node.kind) {
    case "literal":
      return advance(before, node.text, node);
    case "set":
      return walkSet(node, before);
    case "flags":
      throw new Offence(`${locate(node)} sets flags, which an issuer pattern may not`);
    case "sequence":
      return node.items.reduce((phases, item) => walk(item, phases), before);
    case "choice":
      return new Set(node.items.flatMap((item) => [...walk(item, before)]));
    case "repeat":
      return walkRepeat(node, before);
  }
}

function walkRepeat({ item, min, max }: PatternNode & { kind: "repeat" }, before: Phases): Phases {
  const reached = new Set(min === 0 ? before : []);
  let current = before;
  for (let round = 1; round <= Math.min(max, rounds); round++) {
    current = walk(item, current);
    if (round >= Math.min(min, rounds)) for (const phase of current) reached.add(phase);
  }
  const slash = max > 1 ? findSlash(item) : undefined;
  if (slash) throw new Offence(`${locate(slash)} may not be repeated; write each segment of the path, ${forSegment}`);
  return reached;
}

function walkSet(node: PatternNode & { kind: "set" }, before: Phases): Phases {
  const only = singleMember(node.text);
  if (only === undefined && before.has(rest) && RE2JS.compile(node.text).testExact("/"))
    throw new Offence(`${locate(node)} can match "/"; write ${forSegment}`);
  if ([...before].every((phase) => phase === rest)) return before;
  if (only !== undefined) return advance(before, only, node);
  if ([...before].some((phase) => phase !== host && phase !== rest)) {
    throw new Offence(`${mustBegin}: ${locate(node)} is not literal`);
  }
  if (node.text === ".") {
    throw new Offence(`${locate(node)} matches any character of the host; write "\\." for a dot, ${forName}`);
  }
  const matches = RE2JS.compile(node.text);
  const delimiter = delimiters.find((char) => matches.testExact(char));
  if (delimiter !== undefined)
    throw new Offence(`${locate(node)} can match "${delimiter}" in the host; write ${forName}`);
  return before;
}

/** Returns the first slash that a part must or may match. */
function findSlash(node: PatternNode): (PatternNode & { kind: "literal" | "set" }) | undefined {
  switch (node.kind) {
    case "literal":
      return node.text === "/" ? node : undefined;
    case "set":
      return singleMember(node.text) === "/" ? node : undefined;
    case "flags":
      return undefined;
    case "sequence":
    case "choice":
      return node.items.map(findSlash).find((slash) => slash !== undefined);
    case "repeat":
      return findSlash(node.item);
  }
}

/** Returns the one character that a set stands for, such as `\.`, `\x2e` and `[.]`, or undefined. */
function singleMember(text: string): string | undefined {
  if (text.startsWith("[")) return /^\[\\?([./:-])\]$/.exec(text)?.[1];
  if (text === "." || /^\\[pPdDwWsS]/.test(text)) return undefined;
  const matches = RE2JS.compile(text);
  return ascii.find((char) => matches.testExact(char));
}

function advance(before: Phases, char: string, node: PatternNode & { text: string; at: number }): Phases {
  return new Set(
    [...before].map((phase) => {
      if (phase === rest) return rest;
      if (phase === host) return advanceHost(char, node);
      const next = phase + char;
      if (schemes.includes(next)) return host;
      if (schemes.some((scheme) => scheme.startsWith(next))) return next;
      throw new Offence(`${mustBegin}: ${locate(node)} is out of place`);
    }),
  );
}

function advanceHost(char: string, node: PatternNode & { text: string; at: number }): Phase {
  if (char === "/") return rest;
  if (char !== "." && char !== ":" && delimiters.includes(char))
    throw new Offence(`${locate(node)} may not stand in the host`);
  return host;
}

function locate({ text, at }: { readonly text: string; readonly at: number }): string {
  return `"${text}" at position ${at + 1}`;
}
