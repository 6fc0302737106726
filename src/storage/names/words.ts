// Splits names and queries into words, in the same way.

/** How many words of a name are found, and how many UTF-16 units of each: the rest of a longer name is not. */
const maxWords = 8;
const maxLength = 64;

/** Returns the words of a name: in lower case, without accents, each once. */
export function wordsOf(name: string): string[] {
  const words = fold(name).match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words.map(clipped))].slice(0, maxWords);
}

/** Returns the words of a name but that at its beginning, which the index rows of lists find. */
export function laterWordsOf(name: string): string[] {
  const [first, ...others] = wordsOf(name);
  if (first === undefined) return [];
  return fold(name).startsWith(first) ? others : [first, ...others];
}

/** Returns the words of a person: those of the name and of the address, and the whole address. */
export function personWordsOf({ name, email }: { readonly name: string; readonly email: string }): string[] {
  const address = email === "" ? [] : [clipped(fold(email)), ...wordsOf(email)];
  return [...new Set([...wordsOf(name), ...address])];
}

/**
 * Returns the words of a query, each of which must begin a word of what is found. None begins another one. An address, or its beginning
 * with the `@`, is one word.
 */
export function queryWords(query: string): string[] {
  const parts = fold(query).split(/\s+/);
  const words = parts.flatMap((part) => (part.indexOf("@") > 0 ? [clipped(part)] : wordsOf(part)));
  const unique = [...new Set(words)].slice(0, maxWords);
  return unique.filter((word) => !unique.some((other) => other !== word && other.startsWith(word)));
}

/** Whether each of some words begins one of the others. */
export function haveWords(found: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((word) => found.some((one) => one.startsWith(word)));
}

function fold(text: string): string {
  return text.toWellFormed().normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

function clipped(word: string): string {
  return word.slice(0, maxLength).toWellFormed();
}
