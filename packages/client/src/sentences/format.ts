// Formats the texts of sentences: ICU messages with names and plurals, such as
// "{actor} added {count, plural, one {{resource}} other {# people}}".

type Node = string | Named | Plural;

/** A named value. */
interface Named {
  readonly name: string;
}

/** One of several texts, by a number. */
interface Plural extends Named {
  readonly cases: Readonly<Record<string, readonly Node[]>>;
}

/** A piece of a formatted text: a literal, or the name of a value. */
export type Piece = string | Named;

const parsed = new Map<string, readonly Node[]>();

/** Returns the pieces of a text, with the cases that its numbers choose. Values that are not numbers stay as their names. */
export function piecesOf(text: string, numbers: Readonly<Record<string, number>>, language: string): readonly Piece[] {
  const nodes = parsed.get(text) ?? parse(text);
  parsed.set(text, nodes);
  return chosen(nodes, numbers, language, undefined);
}

function chosen(
  nodes: readonly Node[],
  numbers: Readonly<Record<string, number>>,
  language: string,
  hash: number | undefined,
): Piece[] {
  return nodes.flatMap((node): Piece[] => {
    if (typeof node === "string") return [hash === undefined ? node : node.replaceAll("#", shown(hash, language))];
    const number = numbers[node.name];
    if ("cases" in node) {
      const rule = new Intl.PluralRules(language).select(number ?? 1);
      return chosen(node.cases[rule] ?? node.cases.other ?? [], numbers, language, number ?? 1);
    }
    return [number === undefined ? node : shown(number, language)];
  });
}

function shown(number: number, language: string): string {
  return new Intl.NumberFormat(language).format(number);
}

function parse(text: string): Node[] {
  const reader = { text, at: 0 };
  const nodes = nodesOf(reader);
  if (reader.at < text.length) throw new SyntaxError(`"}" without "{" at ${reader.at}: ${text}`);
  return nodes;
}

interface Reader {
  readonly text: string;
  at: number;
}

/** Reads up to the end, or to the brace that ends a case. */
function nodesOf(reader: Reader): Node[] {
  const nodes: Node[] = [];
  for (;;) {
    const literal = take(reader, /[^{}]*/y);
    if (literal !== "") nodes.push(literal);
    if (reader.text[reader.at] !== "{") return nodes;
    reader.at++;
    nodes.push(placeholderOf(reader));
  }
}

function placeholderOf(reader: Reader): Node {
  const name = take(reader, /\w+/y);
  if (take(reader, /\}/y) !== "") return { name };
  expect(reader, /,\s*plural,\s*/y);
  const cases: Record<string, readonly Node[]> = {};
  while (take(reader, /\s*\}/y) === "") {
    const key = expect(reader, /\s*\w+/y).trim();
    expect(reader, /\s*\{/y);
    cases[key] = nodesOf(reader);
    expect(reader, /\}/y);
  }
  return { name, cases };
}

function take(reader: Reader, pattern: RegExp): string {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.text)?.[0] ?? "";
  reader.at += found.length;
  return found;
}

function expect(reader: Reader, pattern: RegExp): string {
  const found = take(reader, pattern);
  if (found === "") throw new SyntaxError(`expected ${pattern.source} at ${reader.at}: ${reader.text}`);
  return found;
}
