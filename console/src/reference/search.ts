// Search by words over services, methods, types and fields: their names, paths and comments.
import type { Grpc } from "./documents.ts";
import { questions, stopWords, synonyms } from "./search-words.ts";

/** The results of a search. */
export interface Found {
  /** A service or a type. */
  readonly name: string;
  readonly method?: string;
  /** Where in it the words are: a path or a field. */
  readonly where: string;
}

/** The most results of a search that are shown. */
const maxFound = 50;

/** A thing that can be found, with its texts: the first ones count most. */
interface Entry extends Found {
  /** Name, path, comment, and comments of what belongs to it. */
  readonly texts: readonly string[];
  /** Points for its kind: people look for methods more often than for fields. */
  readonly bonus: number;
}

/** Points for a word, by the text that has it. */
const weights = [8, 4, 2, 1] as const;
/** A question finds its method behind the methods with all words in their names. */
const questionScore = 2 * weights[0];

/** Returns what has all words of a query, best first. Words that say nothing are ignored, and synonyms find the same. */
export function search(grpc: Grpc, documents: readonly string[], query: string): readonly Found[] {
  const text = wordsOf(query).trim();
  const terms = termsOf(text);
  const asked = questions.filter(({ phrases }) => phrases.some((phrase) => ` ${text} `.includes(` ${phrase} `)));
  const ranked = entriesOf(grpc, documents).flatMap((entry) => {
    const isAsked = asked.some(({ method }) => method === entry.method);
    const score = Math.max(terms.length > 0 ? scoreOf(entry, terms) : 0, isAsked ? questionScore : 0);
    return score > 0 ? [{ entry, score: score + entry.bonus }] : [];
  });
  return ranked
    .sort((a, b) => b.score - a.score || a.entry.texts[0]!.length - b.entry.texts[0]!.length)
    .slice(0, maxFound)
    .map(({ entry: { name, method, where } }) => ({ name, where, ...(method !== undefined && { method }) }));
}

/** Returns the score of an entry; 0 if it lacks a term. A term of several words counts once. */
function scoreOf({ texts }: Entry, terms: readonly (readonly string[])[]): number {
  let score = 0;
  for (const alternatives of terms) {
    const place = texts.findIndex((text) => alternatives.some((word) => text.includes(` ${word}`)));
    if (place < 0) return 0;
    // The word itself counts more than another one for it.
    score += weights[place]! + (texts[place]!.includes(` ${alternatives[0]}`) ? 0.5 : 0);
  }
  return score;
}

/** Returns the words of a query, each with its synonyms. Phrases of the list are one word. */
function termsOf(text: string): readonly (readonly string[])[] {
  let rest = ` ${text} `;
  const phrases = synonyms.flat().filter((one) => one.includes(" ") && rest.includes(` ${one} `));
  for (const phrase of phrases) rest = rest.replace(` ${phrase} `, " ");
  const words = rest.split(" ").filter((word) => word !== "" && !stopWords.has(word));
  return [...phrases, ...words].map((word) => {
    const own = withoutPlural(word);
    const others = synonyms.filter((group) => group.includes(word) || group.includes(own)).flat();
    return [own, ...others.filter((one) => one !== own)];
  });
}

function withoutPlural(word: string): string {
  return word.length > 3 && word.endsWith("s") && !/(ss|us|is)$/.test(word) ? word.slice(0, -1) : word;
}

/** Returns a text as its words in lower case, each after a space: `roleBindings` is ` role bindings `. */
function wordsOf(text: string): string {
  const words = text
    .replace(/([\p{Ll}\d])(?=\p{Lu})/gu, "$1 ")
    .replace(/(\p{Lu})(?=\p{Lu}\p{Ll})/gu, "$1 ")
    .toLowerCase();
  return ` ${words.replace(/[^\p{L}\p{N}]+/gu, " ").trim()} `;
}

const known = new WeakMap<Grpc, Map<string, readonly Entry[]>>();

/** Returns the entries of the documents, made once. */
function entriesOf(grpc: Grpc, documents: readonly string[]): readonly Entry[] {
  const made = known.get(grpc) ?? new Map<string, readonly Entry[]>();
  known.set(grpc, made);
  const key = documents.join();
  const entries = made.get(key) ?? makeEntries(grpc, documents);
  made.set(key, entries);
  return entries;
}

function makeEntries(grpc: Grpc, documents: readonly string[]): readonly Entry[] {
  const entries: Entry[] = [];
  const types = new Set<string>();
  const add = (found: Found, texts: readonly string[], bonus: number) =>
    entries.push({ ...found, texts: texts.map(wordsOf), bonus });
  for (const [name, { document, description, methods }] of Object.entries(grpc.services)) {
    if (!documents.includes(document)) continue;
    const own = name.replace(/Service$/, "");
    add({ name, where: "" }, [own.split(".").at(-1)!, own, description], 0);
    for (const { name: method, description: does, input, output, routes } of methods) {
      collect(grpc, input, types);
      collect(grpc, output, types);
      const path = routes[0] ? `${routes[0].method} ${routes[0].path}` : "";
      const fields = (grpc.types[input]?.fields ?? []).map((field) => `${field.name} ${field.description}`);
      add({ name, method, where: path }, [method, `${own} ${path}`, does, fields.join(" ")], 1);
    }
  }
  for (const name of types) {
    const { description, fields = [], values = [] } = grpc.types[name]!;
    add({ name, where: "" }, [name.split(".").at(-1)!, name, description], -4);
    for (const member of [...fields, ...values])
      add({ name, where: member.name }, [member.name, `${name} ${member.name}`, member.description], -6);
  }
  return entries;
}

/** Adds a type and those of its fields. */
function collect(grpc: Grpc, name: string, types: Set<string>): void {
  if (types.has(name)) return;
  types.add(name);
  for (const { message, enum: values } of grpc.types[name]?.fields ?? [])
    for (const one of [message, values]) if (one !== undefined) collect(grpc, one, types);
}
