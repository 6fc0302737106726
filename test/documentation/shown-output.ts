// Compares what a page shows with what a command printed. What differs from run to run is written in the forms below.

/** A form of the pages, and what it stands for. */
interface Mask {
  readonly written: RegExp;
  readonly standsFor: string;
  /** Whether equal texts of a page stand for equal values. */
  readonly isConsistent?: boolean;
}

/** The first that matches counts. */
const masks: readonly Mask[] = [
  // A uid, digest, token or other random text, shortened: `9f18…bf53`.
  { written: /[\w-]{4}…[\w-]{4}(?![\w-])/, standsFor: "[\\w-]{16,}", isConsistent: true },
  { written: /eyJ[\w.-]*…/, standsFor: "eyJ[\\w-]+\\.[\\w-]+\\.[\\w-]+" },
  {
    written: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/,
    standsFor: "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z",
  },
  { written: /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/, standsFor: "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}" },
  // A device code, as `BCDF-GHJK-LMNP`.
  { written: /\b[B-Z]{4}-[B-Z]{4}-[B-Z]{4}\b/, standsFor: "[B-Z]{4}-[B-Z]{4}-[B-Z]{4}" },
  // The version of the program, and as the first columns of `gatehouse version`.
  { written: /^\d+\.\d+\.\d+ {2}\d+\.\d+\.\d+(?= {2}http)/, standsFor: "\\S+ {2}\\S+" },
  { written: /(?<=[Gg]atehouse )\d+\.\d+\.\d+/, standsFor: "\\d+\\.\\d+\\.\\d+\\S*" },
  // Anything within a line, or within a JSON value.
  { written: /…/, standsFor: ".*?" },
];
const anyMask = new RegExp(masks.map(({ written }) => `(${written.source})`).join("|"), "gm");

/** The values that the shortened texts of one page have stood for so far. */
export type KnownValues = Map<string, string>;

/** Says where the output differs from what is shown, or answers undefined. A shown line of `…` stands for any lines. */
export function differenceFrom(shown: string, printed: string, known: KnownValues): string | undefined {
  if (/^[{[]/.test(shown) && /^[{[]/.test(printed.trim()))
    return lineDifference(squeezedJson(shown), squeezedJson(printed.trim()), known);
  const expected = linesOf(shown);
  const actual = linesOf(printed);
  let at = 0;
  let mayPass = false;
  for (const line of expected) {
    if (line === "…") {
      mayPass = true;
      continue;
    }
    let difference = at < actual.length ? lineDifference(line, actual[at]!, known) : `it ends before "${line}"`;
    while (difference !== undefined && mayPass && ++at < actual.length)
      difference = lineDifference(line, actual[at]!, known);
    if (difference !== undefined) return difference;
    at++;
    mayPass = false;
  }
  return at < actual.length && !mayPass ? `it has one more line: "${actual[at]}"` : undefined;
}

/** Without the width of columns, which shortened texts change. */
function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trimEnd().replace(/(?<=\S) {2,}/g, "  "))
    .filter((line) => line !== "");
}

function squeezedJson(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_whole, string: string | undefined) => string ?? "");
}

function lineDifference(shown: string, printed: string, known: KnownValues): string | undefined {
  const { pattern, texts } = patternOf(shown);
  const match = pattern.exec(printed);
  if (!match) return `"${printed}" is shown as "${shown}"`;
  for (const [i, text] of texts.entries()) {
    const value = match[i + 1]!;
    const before = known.get(text);
    if (before !== undefined && before !== value) return `${text} stands for ${before} and for ${value}`;
    known.set(text, value);
  }
  return undefined;
}

function patternOf(shown: string): { pattern: RegExp; texts: string[] } {
  const texts: string[] = [];
  let source = "";
  let end = 0;
  for (const match of shown.matchAll(anyMask)) {
    const mask = masks[match.slice(1).findIndex((group) => group !== undefined)]!;
    source += escaped(shown.slice(end, match.index));
    source += mask.isConsistent ? `(${mask.standsFor})` : `(?:${mask.standsFor})`;
    if (mask.isConsistent) texts.push(match[0]);
    end = match.index + match[0].length;
  }
  return { pattern: new RegExp(`^${source}${escaped(shown.slice(end))}$`, "s"), texts };
}

/** Puts the values in the places of shortened texts that stand for them. */
export function restored(shown: string, known: KnownValues): string {
  return shown.replace(anyMask, (text) => known.get(text) ?? text);
}

/** Shortens the random texts of an output, as pages show them. */
export function shortened(printed: string): string {
  return printed
    .replace(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, "eyJhbGciOi…")
    .replace(
      /\b(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32}|[0-9a-f]{16})\b/g,
      (id) => `${id.slice(0, 4)}…${id.slice(-4)}`,
    );
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
