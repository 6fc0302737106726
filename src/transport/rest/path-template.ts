// google.api.http: the path templates of HTTP rules.

/**
 * A parsed path template.
 *
 *     Template  = "/" Segments [ Verb ] ;
 *     Segments  = Segment { "/" Segment } ;
 *     Segment   = "*" | "**" | LITERAL | Variable ;
 *     Variable  = "{" FieldPath [ "=" Segments ] "}" ;
 *     FieldPath = IDENT { "." IDENT } ;
 *     Verb      = ":" LITERAL ;
 *
 * `*` matches one segment, `**` any number of segments, including none. `**` may appear once; unlike in Google's description of the
 * grammar, other segments may follow it. A variable without segments means `*`. Variables do not nest.
 */
export interface PathTemplate {
  readonly text: string;
  /** Literals, `*` and `**`, including those of variables. */
  readonly segments: readonly string[];
  readonly variables: readonly Variable[];
  /** Without its colon; empty if there is none. */
  readonly verb: string;
}

/** A field path and the half-open range of template segments that it is bound to. */
export interface Variable {
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

/** A template that breaks the grammar; the column counts from 1. */
export class PathTemplateError extends Error {
  override readonly name = "PathTemplateError";
  readonly column: number;

  constructor(template: string, column: number, problem: string) {
    super(`path template "${template}", column ${column}: ${problem}`);
    this.column = column;
  }
}

interface Draft {
  readonly text: string;
  at: number;
  readonly segments: string[];
  readonly variables: Variable[];
}

const identifier = /[A-Za-z_][A-Za-z0-9_]*/y;
// RFC 3986 §3.3: the characters of a segment, without those that the grammar uses.
const literal = /[A-Za-z0-9\-._~!$&'()+,;@]+/y;

/** Parses a template; throws a PathTemplateError at the first character that does not fit. */
export function parsePathTemplate(text: string): PathTemplate {
  const draft: Draft = { text, at: 0, segments: [], variables: [] };
  expect(draft, "/");
  parseSegments(draft, false);
  const verb = accept(draft, ":") ? take(draft, literal, "a verb") : "";
  if (draft.at < text.length) fail(draft, `unexpected "${text[draft.at]}"`);
  return { text, segments: draft.segments, variables: draft.variables, verb };
}

function parseSegments(draft: Draft, inVariable: boolean): void {
  do parseSegment(draft, inVariable);
  while (accept(draft, "/"));
}

function parseSegment(draft: Draft, inVariable: boolean): void {
  const startsWith = (token: string) => draft.text.startsWith(token, draft.at);
  if (startsWith("{") && inVariable) fail(draft, "variables do not nest");
  if (startsWith("**") && draft.segments.includes("**")) fail(draft, "** may appear only once");
  if (startsWith("{")) parseVariable(draft);
  else if (accept(draft, "**")) draft.segments.push("**");
  else if (accept(draft, "*")) draft.segments.push("*");
  else draft.segments.push(take(draft, literal, "a segment"));
}

function parseVariable(draft: Draft): void {
  expect(draft, "{");
  const column = draft.at;
  const path = parseFieldPath(draft);
  if (draft.variables.some((variable) => variable.path === path)) {
    draft.at = column;
    fail(draft, `the variable ${path} appears twice`);
  }
  const start = draft.segments.length;
  if (accept(draft, "=")) parseSegments(draft, true);
  else draft.segments.push("*");
  expect(draft, "}");
  draft.variables.push({ path, start, end: draft.segments.length });
}

function parseFieldPath(draft: Draft): string {
  const names = [];
  do names.push(take(draft, identifier, "a field name"));
  while (accept(draft, "."));
  return names.join(".");
}

function accept(draft: Draft, token: string): boolean {
  if (!draft.text.startsWith(token, draft.at)) return false;
  draft.at += token.length;
  return true;
}

function expect(draft: Draft, token: string): void {
  if (!accept(draft, token)) fail(draft, `expected "${token}"`);
}

function take(draft: Draft, pattern: RegExp, what: string): string {
  pattern.lastIndex = draft.at;
  const found = pattern.exec(draft.text)?.[0];
  if (found === undefined) return fail(draft, `expected ${what}`);
  draft.at += found.length;
  return found;
}

function fail(draft: Draft, problem: string): never {
  throw new PathTemplateError(draft.text, draft.at + 1, problem);
}
