// Search over the texts of the guides, which the build writes to docs/search.json.

/** The text of a guide below one of its headings. */
export interface Passage {
  /** The address of the heading. */
  readonly address: string;
  /** The title of the guide. */
  readonly title: string;
  readonly heading: string;
  readonly text: string;
}

/** A passage with the part of its text that has the first word. */
export interface Match {
  readonly passage: Passage;
  readonly excerpt: string;
}

/** The most results of a search that are shown. */
export const maxMatches = 20;

const excerptLength = 140;

/** Returns the passages that contain all words: those with a word in their heading first, then those with one in their title. */
export function findPassages(passages: readonly Passage[], query: string): Match[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const ranked = passages.flatMap((passage) => {
    const [heading, title, text] = [passage.heading, passage.title, passage.text].map((part) => part.toLowerCase());
    if (!words.every((word) => `${title} ${heading} ${text}`.includes(word))) return [];
    const count = (part: string) => words.filter((word) => part.includes(word)).length;
    return [{ passage, rank: 2 * count(heading!) + count(title!) }];
  });
  return ranked
    .sort((a, b) => b.rank - a.rank)
    .slice(0, maxMatches)
    .map(({ passage }) => ({ passage, excerpt: excerptOf(passage.text.trim(), words) }));
}

function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const at = words.map((word) => lower.indexOf(word)).find((index) => index >= 0) ?? 0;
  const start = at < excerptLength / 2 ? 0 : text.indexOf(" ", at - excerptLength / 2) + 1;
  const part = text.slice(start, start + excerptLength);
  return `${start > 0 ? "…" : ""}${part}${start + excerptLength < text.length ? "…" : ""}`;
}
