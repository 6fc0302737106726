// Picks the parts of a search term that an index is asked for: those that few texts contain.

/** The length of a part, in characters: the index has three at a time. */
const partLength = 3;

/** Of a long term, so many parts are looked at, and so many UTF-16 code units. The rest of the term is compared only. */
const maxCandidates = 32;
const maxTermLength = 1000;

/** An index is asked for so many parts at most. Two are better than one even where the sample has neither: it may mislead. */
const maxParts = 4;
const minParts = 2;

/** Nanoseconds, roughly: to compare a text in passing, to read one entry of the index, to fetch and compare a text that it has. */
const costs = { text: 130, entry: 100, candidate: 500 };

/** The parts of a term to ask an index for. */
export interface TermParts {
  /** The most selective first. Empty where the term is too short, or where there is no sample. */
  readonly parts: readonly string[];
  /** The cost of the search through the index, as a share of the time to compare all texts. Above 1, compare all. */
  readonly cost: number;
}

/** A part of a search term, or several, with the texts of the sample that contain it. */
interface Candidate {
  readonly part: string;
  readonly found: readonly string[];
}

/** Picks parts of a term, judged by a sample of the texts. Only speed depends on how good the sample is. */
export function selectParts(term: string, sample: readonly string[]): TermParts {
  if (sample.length === 0) return { parts: [], cost: Number.POSITIVE_INFINITY };
  const candidates = partsOf(term).map((part) => ({ part, found: sample.filter((text) => text.includes(part)) }));
  const parts: string[] = [];
  let [entries, found, cost] = [0, sample, Number.POSITIVE_INFINITY];
  while (parts.length < maxParts) {
    const left = candidates.filter(({ part }) => !parts.includes(part));
    const next = leastCost(left, entries, found);
    if (!next || (next.cost >= cost && parts.length >= minParts)) break;
    parts.push(next.part);
    ({ entries, found, cost } = next);
  }
  return { parts, cost: cost / (costs.text * sample.length) };
}

/** Returns the part that makes the search cheapest, when it is added to those that leave these texts of the sample. */
function leastCost(candidates: readonly Candidate[], entriesBefore: number, left: readonly string[]) {
  let best: { part: string; entries: number; found: readonly string[]; cost: number } | undefined;
  for (const { part, found: withPart } of candidates) {
    const found = left.filter((text) => text.includes(part));
    const entries = entriesBefore + withPart.length;
    const cost = entries * costs.entry + found.length * costs.candidate;
    if (!best || cost < best.cost) best = { part, entries, found, cost };
  }
  return best;
}

/** Returns the different parts of a term, spread evenly over it where it has many. */
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
