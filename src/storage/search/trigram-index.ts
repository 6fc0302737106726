// Texts in memory, and which of them contain a text: by all runs of three characters of the lines that they are made of.
import { classes, classOf, type Lines, linesOf, type Runs, runAt, runsOf, type TextOf } from "./trigrams.ts";

/** What was found. */
export interface FoundTexts {
  readonly count: number;
  /** The uids in ascending order, where they are not too many. */
  readonly uids?: readonly string[];
}

/** Texts of several lines, by uid. */
export interface TextIndex {
  /** How much memory it takes, about. */
  readonly bytes: number;
  /** How many texts came or changed since it was built; each of them is tried in every search. */
  readonly changed: number;
  /** Replaces a text; undefined takes it away. */
  set(uid: string, text: string | undefined): void;
  /** Which texts have a line that contains this text, which is not empty, well formed, and of one line. */
  find(text: string, maxUids: number): FoundTexts;
}

/** Where more than this part of all units begin a match, maybe, reading them in their order is faster than one by one. */
const sparse = 1 / 16;

/** Builds the index of texts that are in the order of their uids. Rejects when it is told to stop. */
export async function buildTextIndex(texts: readonly TextOf[], signal: AbortSignal): Promise<TextIndex> {
  const uids = texts.map(({ uid }) => uid);
  const lines = await linesOf(texts, signal);
  return newTextIndex(uids, lines, await runsOf(lines, signal));
}

function newTextIndex(uids: readonly string[], lines: Lines, byRun: Runs): TextIndex {
  const changed = new Map<string, string>();
  /** One bit for each uid: those that count no more, and those that a search finds. */
  const outdated = new Int32Array(Math.ceil(uids.length / 32));
  const found = new Int32Array(outdated.length);
  const matches = new Uint32Array(Math.max(lines.starts.length, Math.ceil(lines.lineAt.length * sparse)));
  return {
    bytes: bytesOf(uids, lines, byRun),
    get changed() {
      return changed.size;
    },
    set(uid, text) {
      const place = placeOf(uids, uid);
      if (place !== undefined) outdated[place >> 5]! |= 1 << place;
      if (text === undefined) changed.delete(uid);
      else changed.set(uid, text);
    },
    find(text, maxUids) {
      const ofChanged = [...changed].filter(([, now]) => now.includes(text)).map(([uid]) => uid);
      markOwners(lines, matches.subarray(0, findLines(lines, byRun, text, matches)), found);
      const count = takeAway(found, outdated) + ofChanged.length;
      if (count > maxUids) return { count };
      const ofBuilt = placesIn(found).map((place) => uids[place]!);
      return { count, uids: ofChanged.length === 0 ? ofBuilt : [...ofBuilt, ...ofChanged].sort() };
    },
  };
}

/** Sets the bits of all texts that have one of these lines, and no others. */
function markOwners({ owners, ownersFrom }: Lines, lines: Uint32Array, bits: Int32Array): void {
  bits.fill(0);
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    const end = ownersFrom[line + 1]!;
    for (let at = ownersFrom[line]!; at < end; at++) {
      const owner = owners[at]!;
      bits[owner >> 5]! |= 1 << owner;
    }
  }
}

/** Takes bits away from others, and tells how many are left. */
function takeAway(bits: Int32Array, away: Int32Array): number {
  let left = 0;
  for (let i = 0; i < bits.length; i++) {
    const word = bits[i]! & ~away[i]!;
    bits[i] = word;
    if (word !== 0) left += bitsIn(word);
  }
  return left;
}

/** How many bits of a word are set: the sums of pairs, of fours, of bytes, and of these. */
function bitsIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

function placesIn(bits: Int32Array): number[] {
  const places: number[] = [];
  for (let i = 0; i < bits.length; i++)
    for (let word = bits[i]!; word !== 0; word &= word - 1) places.push(i * 32 + 31 - Math.clz32(word & -word));
  return places;
}

/** Writes down the lines that contain the text, some of them twice where it is short, and tells how many. */
function findLines(lines: Lines, byRun: Runs, text: string, matches: Uint32Array): number {
  const { lineAt, units } = lines;
  const wanted = Uint16Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));
  const { from, to, offset } = candidatesOf(byRun, wanted);
  if (to - from > lineAt.length * sparse && wanted.length < 3) return readLines(lines, wanted, matches);
  let count = 0;
  for (let i = from, last = -1; i < to; i++) {
    const place = byRun.places[i]!;
    const line = lineAt[place]!;
    if (line === last || !isAt(units, place - offset, wanted)) continue;
    last = line;
    matches[count++] = line;
  }
  return count;
}

/** The same for a text that is in so many lines that all are read. */
function readLines({ units, lineAt, starts }: Lines, wanted: Uint16Array, matches: Uint32Array): number {
  const [first, second] = [wanted[0]!, wanted[1]];
  let count = 0;
  for (let at = 0; at < lineAt.length; at++) {
    if (units[at] !== first || (second !== undefined && units[at + 1] !== second)) continue;
    const line = lineAt[at]!;
    matches[count++] = line;
    at = starts[line + 1]! - 1;
  }
  return count;
}

/** The run of the text that is at the fewest places. Of a text of one or two units, all that begin with it. */
function candidatesOf({ from, places }: Runs, wanted: Uint16Array) {
  if (wanted.length < 3) {
    const first = classOf(wanted[0]!) * classes;
    const low = wanted.length === 1 ? first * classes : (first + classOf(wanted[1]!)) * classes;
    return { from: from[low]!, to: from[low + (wanted.length === 1 ? classes ** 2 : classes)]!, offset: 0 };
  }
  let best = { from: 0, to: places.length + 1, offset: 0 };
  for (let offset = 0; offset + 3 <= wanted.length; offset++) {
    const run = runAt(wanted, offset);
    const [low, high] = [from[run]!, from[run + 1]!];
    if (high - low < best.to - best.from) best = { from: low, to: high, offset };
  }
  return best;
}

/** Whether the text is at a place. A text of one line, read over the end of one, meets a line feed. */
function isAt(units: Uint16Array, at: number, wanted: Uint16Array): boolean {
  for (let i = 0; i < wanted.length; i++) if (units[at + i] !== wanted[i]) return false;
  return true;
}

/** The place of a uid in a list in ascending order; undefined when it is not there. */
function placeOf(uids: readonly string[], uid: string): number | undefined {
  let low = 0;
  let high = uids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (uids[middle]! < uid) low = middle + 1;
    else high = middle;
  }
  return uids[low] === uid ? low : undefined;
}

/** A string of a uid takes its characters and about 20 bytes; two arrays have a number for each. */
function bytesOf(
  uids: readonly string[],
  { units, lineAt, starts, owners, ownersFrom }: Lines,
  { places, from }: Runs,
) {
  const arrays = [units, lineAt, starts, owners, ownersFrom, places, from];
  return arrays.reduce((sum, array) => sum + array.byteLength, 0) + uids.reduce((sum, uid) => sum + uid.length + 33, 0);
}
