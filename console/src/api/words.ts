// Finds things by the words of their names and descriptions, and by synonyms of these.
import { synonyms } from "./synonyms.ts";

/** The fewest letters that stand for a synonym. */
const leastLetters = 3;

/** A test of a text. */
export interface Words {
  /** Whether each typed word begins a word of the texts. */
  readonly isIn: (...texts: readonly string[]) => boolean;
  /** Whether that is so once synonyms take the place of typed words: "upload" is in "Push images". */
  readonly isMeantBy: (...texts: readonly string[]) => boolean;
}

/** Returns what was typed as a test of texts. */
export function wordsIn(typed: string): Words {
  const whole = typed.trim().toLowerCase();
  const words = whole.split(/\s+/);
  // As a whole for "kick out", and by word for "upload image".
  const ways = [[meaningsOf(whole)], words.map(meaningsOf)];
  return {
    isIn: (...texts) => words.every((word) => hasWord(joined(texts), word)),
    isMeantBy: (...texts) => {
      const text = joined(texts);
      return ways.some((parts) => parts.every((meanings) => meanings.some((meaning) => hasWords(text, meaning))));
    },
  };
}

/** Sorts what is meant: first what has the words in its name, then in its description, then synonyms. */
export function findByWords<T>(
  typed: string,
  all: readonly T[],
  textsOf: (one: T) => { readonly name: string; readonly description: string },
): readonly T[] {
  const words = wordsIn(typed);
  const found: [T[], T[], T[]] = [[], [], []];
  for (const one of all) {
    const { name, description } = textsOf(one);
    if (words.isIn(name)) found[0].push(one);
    else if (words.isIn(name, description)) found[1].push(one);
    else if (words.isMeantBy(name, description)) found[2].push(one);
  }
  return found.flat();
}

function joined(texts: readonly string[]): string {
  return texts.join(" ").toLowerCase();
}

function hasWords(text: string, words: string): boolean {
  return words.split(" ").every((word) => hasWord(text, word));
}

/** Whether a word of the text begins with these letters. */
function hasWord(text: string, letters: string): boolean {
  let at = text.indexOf(letters);
  while (at > 0 && /[\p{L}\p{N}]/u.test(text[at - 1]!)) at = text.indexOf(letters, at + 1);
  return at !== -1;
}

/** Returns the words that mean the same as some letters, with which one of these words begins. */
function meaningsOf(letters: string): readonly string[] {
  if (letters.length < leastLetters) return [letters];
  const lines = synonyms.filter((line) => line.some((word) => word.startsWith(letters)));
  return [letters, ...lines.flat()];
}
