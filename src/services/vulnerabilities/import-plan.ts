// What becomes of an advisory when a source says what it knows of it. Nothing is written before it is decided.
import { isDeepStrictEqual } from "node:util";
import { findAdvisoriesByName, findDeletedAdvisoriesByName } from "../../storage/advisories.ts";
import type { Session, Transaction } from "../../storage/session.ts";
import { newChild } from "../../uid.ts";
import type { AdvisoryFields } from "./advisory-fields.ts";
import { type AdvisoryState, deleteState, insertState, keepDeleted, replaceState, stateOf } from "./advisory-state.ts";
import type { EventContent } from "./event-content.ts";
import { distinct, mergedEvents } from "./merged-events.ts";
import { findDroppedParts } from "./record-parts.ts";
import { type AdvisoryRow, toldBy, toldTime, unknownProduct } from "./rows.ts";
import { placedEvents } from "./write-advisory.ts";

/** An advisory as a source has it. Times are milliseconds since the epoch. */
export interface ImportItem {
  /** The public id. */
  readonly name: string;
  readonly fields: AdvisoryFields & Pick<AdvisoryRow, "severities" | "origin">;
  readonly events: readonly EventContent[];
  /** When the source published it; undefined when it does not say. */
  readonly createTime: number | undefined;
  /** When the source changed it last; undefined when it does not say. */
  readonly modifyTime: number | undefined;
  /** When the source withdrew it; undefined when it did not. */
  readonly withdrawTime: number | undefined;
  /** The public id of the record that it is a part of; empty when it is none. */
  readonly partOf: string;
  /** The public ids of its own parts; undefined when they are not known. */
  readonly parts: readonly string[] | undefined;
}

/** What is to be done with an advisory. */
export interface ImportPlan {
  readonly outcome: "CREATED" | "UPDATED" | "UNCHANGED";
  readonly uid: string;
  apply(tx: Transaction): Promise<unknown>;
}

/** Decides what becomes of an advisory of a group. */
export async function planImport(session: Session, parent: string, item: ImportItem, now: number): Promise<ImportPlan> {
  const { name, partOf, modifyTime } = item;
  const known = await findKnown(session, parent, name);
  const record = partOf === "" ? undefined : await findKnown(session, parent, partOf);
  const told = toldUntil(known, item, now);
  // OSV: of two entries of one id, the one with the later modification time is authoritative.
  if (modifyTime !== undefined && modifyTime < Math.max(told, toldUntil(record, item, now)))
    return unchanged(known?.row.uid ?? "");
  const isLater = modifyTime !== undefined && modifyTime > told;
  const plan =
    known && !known.isDeleted
      ? await planKnown(session, known.row, item, isLater, now)
      : planNew(known?.row, parent, item, now);
  // A record that never was here has left no parts.
  if (!known || !isLater) return plan;
  return withoutDropped(plan, await findDroppedParts(session, parent, item), modifyTime, item);
}

/** An advisory as it is, or as it was when it was deleted. */
interface Known {
  readonly row: AdvisoryRow;
  readonly isDeleted: boolean;
}

async function findKnown(session: Session, parent: string, name: string): Promise<Known | undefined> {
  const [row] = await findAdvisoriesByName(session, parent, name);
  if (row) return { row, isDeleted: false };
  const [deleted] = await findDeletedAdvisoriesByName(session, parent, name);
  return deleted && { row: deleted.advisory as AdvisoryRow, isDeleted: true };
}

/** When the author of an item had changed what is known. A time that is still to come would keep out all that is true. */
function toldUntil(known: Known | undefined, { fields }: ImportItem, now: number): number {
  const time = known ? toldTime(known.row, fields.author) : 0;
  return time <= now ? time : 0;
}

async function planKnown(
  session: Session,
  row: AdvisoryRow,
  item: ImportItem,
  isLater: boolean,
  now: number,
): Promise<ImportPlan> {
  const { uid } = row;
  const before = await stateOf(session, row);
  const { withdrawTime } = item;
  if (withdrawTime !== undefined) {
    return { outcome: "UPDATED", uid, apply: (tx) => withdraw(tx, before, withdrawTime, item) };
  }
  const after = merged(before, item, isLater, now);
  const { sources } = row;
  if (!isDeepStrictEqual({ ...after, row: { ...after.row, sources } }, before)) {
    const changed = { ...after, row: { ...after.row, updateTime: now } };
    return { outcome: "UPDATED", uid, apply: (tx) => replaceState(tx, before, changed) };
  }
  // That the source says the same at a later time is no change to whoever reads it.
  if (isDeepStrictEqual(after.row.sources, sources)) return unchanged(uid);
  return { outcome: "UNCHANGED", uid, apply: (tx) => replaceState(tx, before, after) };
}

function planNew(deleted: AdvisoryRow | undefined, parent: string, item: ImportItem, now: number): ImportPlan {
  const { withdrawTime } = item;
  if (deleted && withdrawTime !== undefined) return unchanged(deleted.uid);
  const state = newState(parent, item, now);
  const apply = (tx: Transaction) =>
    withdrawTime === undefined ? insertState(tx, state) : keepDeleted(tx, state, withdrawTime);
  return { outcome: "CREATED", uid: state.row.uid, apply };
}

function unchanged(uid: string): ImportPlan {
  return { outcome: "UNCHANGED", uid, apply: async () => {} };
}

/** The plan, and with it that parts which the record has no more are withdrawn. */
function withoutDropped(
  plan: ImportPlan,
  dropped: readonly AdvisoryState[],
  time: number,
  record: ImportItem,
): ImportPlan {
  if (dropped.length === 0) return plan;
  return {
    outcome: plan.outcome === "UNCHANGED" ? "UPDATED" : plan.outcome,
    uid: plan.uid,
    async apply(tx) {
      await plan.apply(tx);
      for (const part of dropped) await withdraw(tx, part, time, record);
    },
  };
}

/** What is kept says when the source had changed it: an older copy does not bring it back. */
async function withdraw(tx: Transaction, { row, events }: AdvisoryState, time: number, item: ImportItem) {
  const kept = { ...row, sources: toldBy(row.sources, item.fields.author, item.modifyTime) };
  await deleteState(tx, { row, events }, time, { row: kept, events });
}

function newState(parent: string, item: ImportItem, now: number): AdvisoryState {
  const { name, fields, events, createTime, modifyTime } = item;
  const uid = newChild(parent);
  const placed = placedEvents(uid, distinct(events), modifyTime === undefined ? now : (createTime ?? modifyTime));
  const first = placed.reduce((earliest, event) => Math.min(earliest, event.createTime), now);
  const times = { createTime: createTime ?? first, updateTime: now };
  const sources = toldBy([], fields.author, modifyTime);
  const derived = { sources, latestEventType: 0, aliasText: "", legacyAdvisoryId: "" };
  return { row: { ...fields, ...derived, ...unknownProduct, ...times, uid, parent, name }, events: placed };
}

/** What is stored, with what the source says in its place. */
function merged(before: AdvisoryState, item: ImportItem, isLater: boolean, now: number): AdvisoryState {
  const { fields, events, modifyTime } = item;
  const sources = toldBy(before.row.sources, fields.author, modifyTime);
  const row = { ...before.row, ...fields, sources };
  const said = { events: distinct(events), time: modifyTime ?? now, isLater };
  return { row, events: mergedEvents(before.row.uid, before.events, said) };
}
