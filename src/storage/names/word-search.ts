// Finds what may match the words of a query. The caller compares the rows: the index follows them, and may be a moment behind.
import type { Session } from "../engine/session.ts";
import { personWords } from "../schema/person-words.ts";
import { findWords, type NameWord, uidOfWord } from "./name-words.ts";

/** How many entries of the index are looked at for each word. */
const maxEntries = 2_000;

/** The words to find, none of which begins another one, in an organization. */
export interface WordQuery {
  readonly root: string;
  readonly kind: string;
  readonly words: readonly string[];
}

/** The uids of what may match, the most likely first. */
export interface Candidates {
  readonly uids: readonly string[];
  /** Whether a word has more entries than are looked at, so something may be missing. */
  readonly isCut: boolean;
}

/** Returns what may have all words of a query. */
export async function findCandidates(session: Session, { root, kind, words }: WordQuery): Promise<Candidates> {
  const lists: NameWord[][] = [];
  for (const beginning of words) lists.push(await findWords(session, { root, kind, beginning }, maxEntries));
  const whole = lists.filter((list) => list.length < maxEntries);
  // The index has all words of people. Of a resource it lacks the first one, which one word of the query can begin.
  const required = kind === personWords ? whole.length : whole.length - 1;
  const found = countOf(lists);
  const foundInWhole = countOf(whole);
  const uids = [...found]
    .filter(([uid]) => (foundInWhole.get(uid) ?? 0) >= required)
    .sort(([a, first], [b, second]) => second - first || (a < b ? -1 : 1))
    .map(([uid]) => uid);
  return { uids, isCut: whole.length < lists.length };
}

/** Returns in how many of the lists each uid is. */
function countOf(lists: readonly (readonly NameWord[])[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const list of lists) for (const uid of new Set(list.map(uidOfWord))) counts.set(uid, (counts.get(uid) ?? 0) + 1);
  return counts;
}
