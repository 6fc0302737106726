// Picks the parts of a search term that an index is asked for: those that few texts contain.

/** How many characters a part has: the index knows which texts have which three. */
const partLength = 3;

/** An index is asked for so many parts: each further one takes longer to read than the texts that it rules out. */
const maxParts = 2;

/** Of a long term, so many parts are looked at. */
const maxCandidates = 32;

/** The rare parts of a term. */
export interface RareParts {
  /** One or two, the rarest first; none of a term that is too short to have any. */
  readonly parts: readonly string[];
  /** The share of the sample that contains the rarest, from 0 to 1. */
  readonly share: number;
}

/** Picks the rarest parts of a term, judged by a sample of the texts. Only speed depends on how good the sample is. */
export function rarePartsOf(term: string, sample: readonly string[]): RareParts {
  const counted = partsOf(term).map((part) => ({ part, count: sample.filter((text) => text.includes(part)).length }));
  counted.sort((a, b) => a.count - b.count);
  const share = sample.length === 0 ? 1 : (counted[0]?.count ?? sample.length) / sample.length;
  return { parts: counted.slice(0, maxParts).map(({ part }) => part), share };
}

/** The different parts of a term, spread evenly over it where it has many. */
function partsOf(term: string): string[] {
  // By code points, as SQLite's trigrams are.
  const characters = [...term.slice(0, maxTermLength)];
  const count = characters.length - partLength + 1;
  const step = Math.max(1, count / maxCandidates);
  const parts = new Set<string>();
  for (let at = 0; at < count; at += step)
    parts.add(characters.slice(Math.floor(at), Math.floor(at) + partLength).join(""));
  return [...parts];
}

/** What comes later in a term is compared, but no part is taken from it. */
const maxTermLength = 1000;
