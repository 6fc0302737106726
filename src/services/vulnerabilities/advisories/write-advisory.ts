// Creates, updates and deletes advisories and their events.
import { isDeepStrictEqual } from "node:util";
import { alreadyExists, failedPrecondition, notFound } from "../../../aip/errors.ts";
import { newChild, newChildBehind, parentOf } from "../../../model/uid.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import type { AdvisoryEventRow } from "../../../storage/vulnerabilities/advisories.ts";
import { findAdvisoriesByName } from "../../../storage/vulnerabilities/advisories.ts";
import { underived, unknownProduct } from "../../../storage/vulnerabilities/rows.ts";
import { groupParents } from "../../iam/groups/groups.ts";
import { type AdvisoryFields, newPublicId } from "./advisory-fields.ts";
import {
  type AdvisoryState,
  advisoryEventType,
  advisoryType,
  deleteState,
  findLocked,
  insertState,
  lockAdvisory,
  replaceState,
} from "./advisory-state.ts";
import { contentOfRow, type EventContent, eventRow, isFinal, refuseTooManyEvents } from "./event-content.ts";

/** The input of a new advisory. */
export interface NewAdvisory extends AdvisoryFields {
  /** The public id; generated if empty. */
  readonly advisoryId: string;
  /** Empty if none. */
  readonly legacyAdvisoryId: string;
  readonly events: readonly EventContent[];
}

/** Creates an advisory in a group. */
export async function createAdvisory(tx: Transaction, parent: string, advisory: NewAdvisory): Promise<AdvisoryState> {
  if (!(await groupParents.lock(tx, parent))) throw notFound(groupParents.type, parent);
  const { advisoryId, legacyAdvisoryId, events, ...fields } = advisory;
  const name = advisoryId || newPublicId();
  if ((await findAdvisoriesByName(tx, parent, name)).length > 0) throw taken(name);
  const uid = newChild(parent);
  const { time } = tx.context;
  const derived = { ...underived, severities: [], sources: [], origin: fields.artifactName };
  const row = {
    ...fields,
    ...derived,
    ...unknownProduct,
    uid,
    parent,
    name,
    legacyAdvisoryId,
    createTime: time,
    updateTime: time,
  };
  return await insertState(tx, { row, events: placedEvents(uid, events, time) });
}

/** Returns the error for a public id that is taken, also by a concurrent call. */
export function taken(name: string) {
  return alreadyExists(advisoryType, name, `an advisory ${name} in this group`);
}

/** Replaces the fields of an advisory. Ids and events stay. */
export async function updateAdvisory(tx: Transaction, uid: string, fields: AdvisoryFields): Promise<AdvisoryState> {
  const before = await lockAdvisory(tx, uid);
  const row = { ...before.row, ...fields, updateTime: tx.context.time };
  // An artifact without another origin is its own origin.
  if (before.row.origin === before.row.artifactName) row.origin = fields.artifactName;
  // Severities belong to the aliases.
  if (!fields.aliases.some((alias) => before.row.aliases.includes(alias))) row.severities = [];
  return await replaceState(tx, before, { ...before, row });
}

/** Deletes an advisory from all lists. */
export async function deleteAdvisory(tx: Transaction, uid: string): Promise<void> {
  await deleteState(tx, await lockAdvisory(tx, uid), tx.context.time);
}

/** Creates an event of an advisory. */
export async function createEvent(
  tx: Transaction,
  advisoryUid: string,
  content: EventContent,
): Promise<AdvisoryEventRow> {
  const before = await lockAdvisory(tx, advisoryUid);
  const { time } = tx.context;
  const placed = placedEvents(advisoryUid, [content], time, before.events);
  const row = { ...before.row, updateTime: time };
  const events = [...before.events, ...placed];
  refuseTooManyEvents(events, advisoryUid);
  await replaceState(tx, before, { row, events });
  return placed[0]!;
}

/** Replaces the content of an event. Its time stays unless another is given. Throws if its review is final or if it is derived. */
export async function updateEvent(tx: Transaction, uid: string, content: EventContent): Promise<AdvisoryEventRow> {
  const before = await findLocked(tx, parentOf(uid));
  const known = before?.events.find((event) => event.uid === uid);
  if (!before || !known) throw notFound(advisoryEventType, uid);
  const after = eventRow(uid, known.advisoryUid, content, content.time ?? known.createTime, known.derived);
  if (isDeepStrictEqual(contentOfRow(after), contentOfRow(known))) return known;
  if (isFinal(contentOfRow(known)))
    throw failedPrecondition(
      "REVIEW_IS_FINAL",
      "the event was approved or rejected and cannot change; create another event",
      uid,
    );
  if (known.derived)
    throw failedPrecondition(
      "EVENT_IS_DERIVED",
      "the event is derived from a record; import a changed record instead",
      uid,
    );
  const events = before.events.map((event) => (event === known ? after : event));
  refuseTooManyEvents(events, before.row.uid);
  await replaceState(tx, before, { row: { ...before.row, updateTime: tx.context.time }, events });
  return after;
}

/**
 * Builds the rows of new events. Events without a time get the present one. Events with equal times are ordered by uid
 * (`advisory-state.ts`), so a later one has a greater uid.
 */
export function placedEvents(
  advisoryUid: string,
  events: readonly EventContent[],
  time: number,
  stored: readonly AdvisoryEventRow[] = [],
): AdvisoryEventRow[] {
  let last = stored.reduce((greatest, { uid }) => (uid > greatest ? uid : greatest), "");
  return events.map((content, i) => {
    last = newChildBehind(advisoryUid, last);
    return eventRow(last, advisoryUid, content, content.time ?? time + i);
  });
}
