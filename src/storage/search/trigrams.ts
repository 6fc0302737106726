// Texts as an index has them: their different lines, and where runs of three classes of characters begin in them.
import { setImmediate } from "node:timers/promises";

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
export const classes = unitClasses + 1;
/** How many runs of three classes there are. */
const runs = classes ** 3;

/** Units that are handled before others get their turn. */
const unitsPerTurn = 32_768;

/** The different lines of all texts, one after the other, and what is known of them. */
export interface Lines {
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
export interface Runs {
  readonly places: Uint32Array;
  readonly from: Uint32Array;
}

/** The lines of texts that are in the order of their uids. Rejects when it is told to stop. */
export async function linesOf(texts: readonly TextOf[], signal: AbortSignal): Promise<Lines> {
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

/** Where runs begin in lines. Rejects when it is told to stop. */
export async function runsOf({ units, lineAt }: Lines, signal: AbortSignal): Promise<Runs> {
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

/** The class of a unit. */
export function classOf(unit: number): number {
  return unit === lineFeed ? unitClasses : unit % unitClasses;
}

/** The run of three classes that begins at a place. */
export function runAt(units: Uint16Array, at: number): number {
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
