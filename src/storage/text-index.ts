// Texts in memory, and which of them contain a text: by all runs of three characters of the lines that they are made of.
import { setImmediate } from "node:timers/promises";

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
  find(text: string, mostUids: number): FoundTexts;
}

/** A text and whose it is. */
export interface TextOf {
  readonly uid: string;
  readonly text: string;
}

const lineFeed = 10;

/**
 * Code units fall into classes: with 39 of them no two of `-./0123456789`, `a` to `z` share one, of which nearly all ids
 * and names are made. Others may, so that what an index of classes tells is always compared with the text itself.
 */
const unitClasses = 39;
/** That of the line feed comes on top. */
const classes = unitClasses + 1;
/** How many runs of three classes there are. */
const runs = classes ** 3;

/** Where more than this part of all units begin a match, maybe, reading them in their order is faster than one by one. */
const sparse = 1 / 16;

/** Units that are handled before others get their turn. */
const unitsPerTurn = 32_768;

/** The different lines of all texts, one after the other, and what is known of them. */
interface Lines {
  /** UTF-16, each line with a line feed behind it, and two more at the end. */
  readonly units: Uint16Array;
  /** The line that a unit is of. */
  readonly lineAt: Uint32Array;
  /** Where a line begins, and where one more would. */
  readonly starts: Uint32Array;
  /** Which texts have a line: `owners` from `ownersFrom[line]` to `ownersFrom[line + 1]`, as places in the list of uids. */
  readonly owners: Uint32Array;
  readonly ownersFrom: Uint32Array;
}

/** Where runs of three classes begin: `places` from `from[run]` to `from[run + 1]`, ascending. */
interface Runs {
  readonly places: Uint32Array;
  readonly from: Uint32Array;
}

/** Builds the index of texts that are in the order of their uids. Rejects when it is told to stop. */
export async function buildTextIndex(texts: readonly TextOf[], signal: AbortSignal): Promise<TextIndex> {
  const uids = texts.map(({ uid }) => uid);
  const lines = await linesOf(texts, signal);
  return newTextIndex(uids, lines, await runsOf(lines, signal));
}

async function linesOf(texts: readonly TextOf[], signal: AbortSignal): Promise<Lines> {
  const known = new Map<string, number>();
  const pairs: number[] = [];
  await inTurns(texts.length, 1024, signal, (from, to) => {
    for (let place = from; place < to; place++) {
      for (const line of new Set(texts[place]!.text.split("\n"))) {
        const id = known.get(line) ?? known.size;
        known.set(line, id);
        pairs.push(id, place);
      }
    }
  });
  const ownersFrom = new Uint32Array(known.size + 1);
  for (let i = 0; i < pairs.length; i += 2) ownersFrom[pairs[i]! + 1]!++;
  addUp(ownersFrom);
  const next = ownersFrom.slice();
  const owners = new Uint32Array(pairs.length / 2);
  for (let i = 0; i < pairs.length; i += 2) owners[next[pairs[i]!]!++] = pairs[i + 1]!;
  return { ...(await unitsOf([...known.keys()], signal)), owners, ownersFrom };
}

async function unitsOf(lines: readonly string[], signal: AbortSignal) {
  const starts = new Uint32Array(lines.length + 1);
  for (const [id, line] of lines.entries()) starts[id + 1] = starts[id]! + line.length + 1;
  const length = starts[lines.length]!;
  // A run that begins at the last line feed has units, too.
  const units = new Uint16Array(length + 2).fill(lineFeed);
  const lineAt = new Uint32Array(length);
  await inTurns(lines.length, 4096, signal, (from, to) => {
    for (let id = from; id < to; id++) {
      const [line, start] = [lines[id]!, starts[id]!];
      for (let i = 0; i < line.length; i++) units[start + i] = line.charCodeAt(i);
      lineAt.fill(id, start, start + line.length + 1);
    }
  });
  return { units, lineAt, starts };
}

async function runsOf({ units, lineAt }: Lines, signal: AbortSignal): Promise<Runs> {
  const from = new Uint32Array(runs + 1);
  await inTurns(lineAt.length, unitsPerTurn, signal, (first, end) => {
    for (let at = first; at < end; at++) if (units[at] !== lineFeed) from[runAt(units, at) + 1]!++;
  });
  addUp(from);
  const next = from.slice();
  const places = new Uint32Array(from[runs]!);
  await inTurns(lineAt.length, unitsPerTurn, signal, (first, end) => {
    for (let at = first; at < end; at++) if (units[at] !== lineFeed) places[next[runAt(units, at)]!++] = at;
  });
  return { places, from };
}

function classOf(unit: number): number {
  return unit === lineFeed ? unitClasses : unit % unitClasses;
}

function runAt(units: Uint16Array, at: number): number {
  return (classOf(units[at]!) * classes + classOf(units[at + 1]!)) * classes + classOf(units[at + 2]!);
}

/** From how many there are of each to where each begins. */
function addUp(counts: Uint32Array): void {
  for (let i = 1; i < counts.length; i++) counts[i]! += counts[i - 1]!;
}

/** Runs a loop in parts, so that others get their turn in between. */
async function inTurns(count: number, step: number, signal: AbortSignal, body: (from: number, to: number) => void) {
  for (let at = 0; at < count; at += step) {
    body(at, Math.min(count, at + step));
    await setImmediate();
    signal.throwIfAborted();
  }
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
    find(text, mostUids) {
      const ofChanged = [...changed].filter(([, now]) => now.includes(text)).map(([uid]) => uid);
      markOwners(lines, matches.subarray(0, findLines(lines, byRun, text, matches)), found);
      const count = takeAway(found, outdated) + ofChanged.length;
      if (count > mostUids) return { count };
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
