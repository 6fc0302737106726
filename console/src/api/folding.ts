// Folds changes into the lines of a list: runs of one actor, kind and verb, and the sign-ins of a day.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Change } from "../../../gen/gatehouse/changes/v1/changes_pb.ts";

/** A line: one change, or several of one kind and verb. The first one is the latest. */
export interface ChangeFold {
  readonly changes: readonly Change[];
  /** The key of its sentence. */
  readonly key: string;
  /** The lines that it stands for, if these are of several people; none otherwise. */
  readonly folds: readonly ChangeFold[];
}

/** The lines of one day, the latest first. */
export interface FoldedDay {
  /** The day as in "2026-11-23". */
  readonly day: string;
  readonly folds: readonly ChangeFold[];
}

/** How long after the first change of a run others belong to it, in milliseconds. */
const runMs = 10 * 60_000;

/** The kinds that happen all day long, whose entries fold for each actor and day. */
const daily = ["sign_ins", "session_ends", "token_exchanges"];

/** How many people have a line each for the sign-ins of a day. Those of more people are one line. */
const maxPeople = 3;

/** Returns the day of a time, in UTC or in the zone of the browser. */
export function dayOf(time: Date, isUtc: boolean): string {
  if (isUtc) return time.toISOString().slice(0, 10);
  return [time.getFullYear(), time.getMonth() + 1, time.getDate()].map((part) => `${part}`.padStart(2, "0")).join("-");
}

/** Folds changes, the latest first, into days with lines. */
export function foldChanges(changes: readonly Change[], isUtc: boolean): readonly FoldedDay[] {
  const days = Map.groupBy(changes, (change) => dayOf(timeOf(change), isUtc));
  return [...days].map(([day, those]) => ({ day, folds: withCrowds(foldDay(those)) }));
}

/** Returns when a change was made. */
export function timeOf({ time }: Pick<Change, "time">): Date {
  return time ? timestampDate(time) : new Date(0);
}

function foldDay(changes: readonly Change[]): ChangeFold[] {
  const folds: { key: string; changes: Change[]; folds: ChangeFold[] }[] = [];
  const byDay = new Map<string, Change[]>();
  let run: { readonly name: string; readonly changes: Change[] } | undefined;
  for (const change of changes) {
    const key = change.sentence?.key ?? change.kind;
    const name = `${key} ${change.actorUid}`;
    const isDaily = daily.includes(change.kind) && change.actorUid !== "";
    const together = isDaily ? byDay.get(name) : run?.name === name && isWithinRun(run.changes, change) && run.changes;
    if (together) {
      together.push(change);
      continue;
    }
    const fold = { key, changes: [change], folds: [] };
    folds.push(fold);
    if (isDaily) byDay.set(name, fold.changes);
    else run = { name, changes: fold.changes };
  }
  return folds;
}

function isWithinRun(run: readonly Change[], change: Change): boolean {
  return timeOf(run[0]!).getTime() - timeOf(change).getTime() <= runMs;
}

/** Returns lines with one for the sign-ins of many people. */
function withCrowds(folds: readonly ChangeFold[]): ChangeFold[] {
  const crowds = new Map<string, readonly ChangeFold[]>();
  for (const kind of ["sign_ins", "token_exchanges"]) {
    const alike = folds.filter(({ key }) => key === `${kind}.allowed`);
    if (alike.length > maxPeople) crowds.set(`${kind}.allowed`, alike);
  }
  return folds.flatMap((fold) => {
    const crowd = crowds.get(fold.key);
    if (!crowd) return fold;
    if (crowd[0] !== fold) return [];
    const key = fold.key.replace(/allowed$/, "several");
    return { key, changes: crowd.flatMap(({ changes }) => changes), folds: crowd };
  });
}
