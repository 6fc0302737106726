// What becomes of an advisory when a source says what it knows of it. Nothing is written before it is decided.
import { isDeepStrictEqual } from "node:util";
import { type AdvisoryEventRow, findAdvisoryByName, findDeletedAdvisoryByName } from "../../storage/advisories.ts";
import type { Session, Transaction } from "../../storage/session.ts";
import { newChild } from "../../uid.ts";
import type { AdvisoryFields } from "./advisory-fields.ts";
import { type AdvisoryState, deleteState, insertState, keepDeleted, replaceState, stateOf } from "./advisory-state.ts";
import { canonicalContent, contentOfRow, type EventContent, eventRow, refuseTooManyEvents } from "./event-content.ts";
import type { AdvisoryRow } from "./rows.ts";
import { placedEvents } from "./write-advisory.ts";

/** An advisory as a source has it. Times are milliseconds since the epoch. */
export interface ImportItem {
  /** The public id. */
  readonly name: string;
  readonly fields: AdvisoryFields & Pick<AdvisoryRow, "severities" | "origin">;
  readonly events: readonly EventContent[];
  /** When the source published it; undefined when it does not say. */
  readonly createTime: number | undefined;
  /** When the source withdrew it; undefined when it did not. */
  readonly withdrawTime: number | undefined;
}

/** What is to be done with an advisory. */
export interface ImportPlan {
  readonly outcome: "CREATED" | "UPDATED" | "UNCHANGED";
  readonly uid: string;
  apply(tx: Transaction): Promise<unknown>;
}

/** Decides what becomes of an advisory of a group. */
export async function planImport(session: Session, parent: string, item: ImportItem, now: number): Promise<ImportPlan> {
  const row = await findAdvisoryByName(session, parent, item.name);
  if (!row) return await planNew(session, parent, item, now);
  const before = await stateOf(session, row);
  const { withdrawTime } = item;
  if (withdrawTime !== undefined)
    return { outcome: "UPDATED", uid: row.uid, apply: (tx) => deleteState(tx, before, withdrawTime) };
  const after = merged(before, item, now);
  if (isDeepStrictEqual(after, before)) return unchanged(row.uid);
  const changed = { ...after, row: { ...after.row, updateTime: now } };
  return { outcome: "UPDATED", uid: row.uid, apply: (tx) => replaceState(tx, before, changed) };
}

async function planNew(session: Session, parent: string, item: ImportItem, now: number): Promise<ImportPlan> {
  const { withdrawTime } = item;
  const deleted = withdrawTime === undefined ? undefined : await findDeletedAdvisoryByName(session, parent, item.name);
  if (deleted) return unchanged(deleted.uid);
  const state = newState(parent, item, now);
  const apply = (tx: Transaction) =>
    withdrawTime === undefined ? insertState(tx, state) : keepDeleted(tx, state, withdrawTime);
  return { outcome: "CREATED", uid: state.row.uid, apply };
}

function unchanged(uid: string): ImportPlan {
  return { outcome: "UNCHANGED", uid, apply: async () => {} };
}

function newState(parent: string, { name, fields, events, createTime }: ImportItem, now: number): AdvisoryState {
  const uid = newChild(parent);
  const placed = placedEvents(uid, distinct(events), now);
  const first = placed.reduce((earliest, event) => Math.min(earliest, event.createTime), now);
  const times = { createTime: createTime ?? first, updateTime: now };
  const derived = { latestEventType: 0, aliasText: "", legacyAdvisoryId: "" };
  return { row: { ...fields, ...derived, ...times, uid, parent, name }, events: placed };
}

/** What is stored, with what the source says in its place. */
function merged(before: AdvisoryState, { fields, events }: ImportItem, now: number): AdvisoryState {
  const row = { ...before.row, ...fields };
  return { row, events: mergedEvents(before.row.uid, before.events, distinct(events), now) };
}

/**
 * The stored events, corrected and completed. An event is one that is stored if it says the same and happened then, if the
 * source says when; if it says something else, but is of the same type, author and time, it was corrected.
 */
function mergedEvents(
  uid: string,
  stored: readonly AdvisoryEventRow[],
  said: readonly EventContent[],
  now: number,
): AdvisoryEventRow[] {
  const free = new Set(stored);
  const texts = new Map(stored.map((event) => [event, canonicalContent(contentOfRow(event))]));
  const take = (fits: (event: AdvisoryEventRow) => boolean) => {
    for (const event of free) {
      if (!fits(event)) continue;
      free.delete(event);
      return event;
    }
    return undefined;
  };
  const others = said.filter((content) => {
    const text = canonicalContent(content);
    const isThen = ({ createTime }: AdvisoryEventRow) => content.time === undefined || content.time === createTime;
    return !take((event) => isThen(event) && texts.get(event) === text);
  });
  const corrected = new Map<AdvisoryEventRow, AdvisoryEventRow>();
  const added = others.filter((content) => {
    const found = take(
      ({ type, createTime, author }) =>
        type === content.type && createTime === content.time && author === content.author,
    );
    if (found) corrected.set(found, eventRow(found.uid, uid, content, found.createTime));
    return !found;
  });
  const events = [...stored.map((event) => corrected.get(event) ?? event), ...placedEvents(uid, added, now, stored)];
  refuseTooManyEvents(events, uid);
  return events;
}

/** What a source says twice is said once. */
function distinct(events: readonly EventContent[]): EventContent[] {
  return [...new Map(events.map((event) => [`${event.time} ${canonicalContent(event)}`, event])).values()];
}
