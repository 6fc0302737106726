// Finds the word that a misspelt one was meant to be.

/** More edits than this make another word. */
const maxEdits = 3;

/** The part of the longer word that must be the same. */
const minShared = 0.5;

/**
 * Returns the known words that are most like a word, in their order; none if all are other words. Of `json`, `yaml` and
 * `csv`, returns `json` for `JSN` and for `jsno`. Case, and - or _, make no difference.
 */
export function similarTo(word: string, known: readonly string[]): string[] {
  const distances = [...new Set(known)].map((candidate) => ({ candidate, edits: editsTo(word, candidate) }));
  const least = Math.min(maxEdits, ...distances.map(({ edits }) => edits));
  return distances.filter(({ edits }) => edits === least).flatMap(({ candidate }) => candidate);
}

/** Returns the sentence that suggests known words for a word, such as "did you mean json?"; empty without one. */
export function didYouMean(word: string, known: readonly string[]): string {
  const [first, ...others] = similarTo(word, known);
  if (first === undefined) return "";
  return others.length === 0 ? `did you mean ${first}?` : `did you mean one of ${[first, ...others].join(", ")}?`;
}

/** Returns the reason why a value is not accepted: `"jsn" is not one of json, yaml; did you mean json?` */
export function notOneOf(value: string, known: readonly string[]): string {
  const suggestion = didYouMean(value, known);
  return `${JSON.stringify(value)} is not one of ${known.join(", ")}${suggestion && `; ${suggestion}`}`;
}

/** Returns the number of edits that make one word of the other; Infinity if they have too little in common. */
function editsTo(word: string, candidate: string): number {
  const [one, other] = [plain(word), plain(candidate)];
  const length = Math.max(one.length, other.length);
  // Reads no long text character by character.
  if (Math.abs(one.length - other.length) > maxEdits) return Number.POSITIVE_INFINITY;
  const edits = editDistance(one, other);
  return edits <= maxEdits && edits <= length * (1 - minShared) ? edits : Number.POSITIVE_INFINITY;
}

function plain(word: string): string {
  return word.toLowerCase().replaceAll("_", "-");
}

/** Returns the number of characters to insert, delete, replace, or exchange with the next one. */
export function editDistance(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 0; i < one.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j++) {
      const replaced = row[j]! + (one[i] === other[j] ? 0 : 1);
      const isExchanged = i > 0 && j > 0 && one[i] === other[j - 1] && one[i - 1] === other[j];
      const exchanged = isExchanged ? before[j - 1]! + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(row[j + 1]! + 1, next[j]! + 1, replaced, exchanged));
    }
    [before, row] = [row, next];
  }
  return row.at(-1)!;
}
