// Writes an advisory together with its events and everything derived from them.
import {
  AdvisoryEventSchema,
  AdvisorySchema,
  EventTypeFilter,
  ReviewState,
} from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { packageKeyOf, productOfArtifact } from "../../../advisories/product.ts";
import { isCommitKey } from "../../../advisories/queries/package.ts";
import { notFound } from "../../../aip/errors.ts";
import { resourceType } from "../../../aip/resource-type.ts";
import { deleteRow, insertRow, lockRow, updateRow } from "../../../storage/collection/rows.ts";
import type { Session, Transaction } from "../../../storage/engine/session.ts";
import {
  type AdvisoryEventRow,
  deleteAdvisoryEvent,
  deleteAdvisoryEvents,
  findAdvisoryEvents,
  insertAdvisoryEvent,
  insertDeletedAdvisory,
  updateAdvisoryEvent,
} from "../../../storage/vulnerabilities/advisories.ts";
import { replaceTerms, replaceText, termsOf, textOf } from "../../../storage/vulnerabilities/advisory-terms.ts";
import { type AdvisoryRow, advisoryCollection } from "../../../storage/vulnerabilities/rows.ts";
import { scoreColumns } from "./advisory-scores.ts";

/** The type of advisories in errors. */
export const advisoryType = resourceType(AdvisorySchema);

/** The type of events in errors. */
export const advisoryEventType = resourceType(AdvisoryEventSchema);

/** An advisory and its events, oldest first. */
export interface AdvisoryState {
  readonly row: AdvisoryRow;
  readonly events: readonly AdvisoryEventRow[];
}

/** Reads an advisory and locks it until the end of the transaction. Throws NOT_FOUND if there is none. */
export async function lockAdvisory(tx: Transaction, uid: string): Promise<AdvisoryState> {
  const found = await findLocked(tx, uid);
  if (!found) throw notFound(advisoryType, uid);
  return found;
}

/** The same, but returns undefined if there is none. */
export async function findLocked(tx: Transaction, uid: string): Promise<AdvisoryState | undefined> {
  const row = await lockRow(tx, advisoryCollection, uid);
  return row && (await stateOf(tx, row));
}

/** Reads the events of an advisory. */
export async function stateOf(session: Session, row: AdvisoryRow): Promise<AdvisoryState> {
  return { row, events: await findAdvisoryEvents(session, [row.uid]) };
}

/** Sorts the events and sets the derived columns. */
function withDerived({ row, events }: AdvisoryState): AdvisoryState {
  const sorted = events.toSorted((a, b) => a.createTime - b.createTime || (a.uid < b.uid ? -1 : 1));
  // Records can have times in the future.
  const updateTime = Math.max(row.createTime, row.updateTime);
  const lookUpKeys = row.product === "" ? keysOfArtifact(row) : row.lookUpKeys;
  const derived = {
    aliasText: row.aliases.join("\n"),
    latestEventType: latestTypeOf(sorted),
    lookUpKeys,
    ...scoreColumns(row),
    updateTime,
  };
  return { row: { ...row, ...derived }, events: sorted };
}

/** Returns the lookup keys of an advisory without a product, by its artifact. */
function keysOfArtifact(row: AdvisoryRow): string[] {
  const {
    artifactName: name,
    artifactType: type,
    artifactArchitecture: architecture,
    componentName,
    componentType,
  } = row;
  const component = { name: componentName, type: componentType };
  const key = packageKeyOf(productOfArtifact({ name, type, architecture }, component));
  return [...row.lookUpKeys.filter(isCommitKey), ...(key === "" ? [] : [key])];
}

/** Returns the status of an advisory: the type of its latest approved event. */
function latestTypeOf(events: readonly AdvisoryEventRow[]): number {
  return latestApproved(events)?.type ?? EventTypeFilter.UNSPECIFIED;
}

function latestApproved(events: readonly AdvisoryEventRow[]): AdvisoryEventRow | undefined {
  return events.findLast(({ reviewState }) => reviewState === ReviewState.APPROVED);
}

/** The part of an advisory's state that the change log keeps besides its columns: the event that determines the status. */
export interface LoggedState {
  readonly events: readonly AdvisoryEventRow[];
}

function loggedState({ events }: AdvisoryState): LoggedState | undefined {
  const state = latestApproved(events);
  return state && { events: [state] };
}

/** Inserts an advisory. Throws UniqueViolation or ReferenceViolation. */
export async function insertState(tx: Transaction, state: AdvisoryState): Promise<AdvisoryState> {
  const { row, events } = withDerived(state);
  await insertRow(tx, advisoryCollection, row, { after: loggedState({ row, events }) });
  // All statements take one round trip to PostgreSQL.
  await Promise.all([
    ...events.map((event) => insertAdvisoryEvent(tx, event)),
    replaceTerms(tx, row.uid, [], termsOf(row, events)),
    replaceText(tx, row.uid, textOf(row)),
  ]);
  return { row, events };
}

/** Replaces an advisory. `before` is what this transaction read. `changesStatements`: see refreshAdvisory. */
export async function replaceState(
  tx: Transaction,
  before: AdvisoryState,
  state: AdvisoryState,
  changesStatements = false,
): Promise<AdvisoryState> {
  const { row: given, events } = withDerived(state);
  const known = new Map(before.events.map((event) => [event.uid, event]));
  const left = new Set(events.map(({ uid }) => uid));
  const dropped = before.events.filter(({ uid }) => !left.has(uid));
  const changesEvents = dropped.length > 0 || events.some((event) => known.get(event.uid) !== event);
  const changesDependents = changesStatements || changesEvents;
  const logged = { before: loggedState(before), after: loggedState({ row: given, events }) };
  const row = await updateRow(tx, advisoryCollection, before.row, given, { changesDependents, ...logged });
  for (const { uid } of dropped) await deleteAdvisoryEvent(tx, uid);
  for (const event of events) {
    if (!known.has(event.uid)) await insertAdvisoryEvent(tx, event);
    else if (known.get(event.uid) !== event) await updateAdvisoryEvent(tx, event);
  }
  await replaceTerms(tx, row.uid, termsOf(before.row, before.events), termsOf(row, events));
  if (textOf(row) !== textOf(before.row)) await replaceText(tx, row.uid, textOf(row));
  return { row, events };
}

/** Deletes an advisory from the lists. It can still be read by its uid, as `kept`. */
export async function deleteState(
  tx: Transaction,
  { row, events }: AdvisoryState,
  deleteTime: number,
  kept: AdvisoryState = { row, events },
): Promise<void> {
  await deleteAdvisoryEvents(tx, row.uid);
  await replaceTerms(tx, row.uid, termsOf(row, events), []);
  await replaceText(tx, row.uid, undefined);
  await deleteRow(tx, advisoryCollection, row, { before: loggedState({ row, events }) });
  await keepDeleted(tx, kept, deleteTime);
}

/**
 * Stores an advisory that was withdrawn before it was in a list. Logs its creation and its deletion, because followers of
 * the change log must see it and counts by the log must stay correct.
 */
export async function keepWithdrawn(tx: Transaction, state: AdvisoryState, deleteTime: number): Promise<void> {
  await keepDeleted(tx, state, deleteTime);
  const { uid, parent } = state.row;
  const row = { ...state.row, ...loggedState(state) };
  const change = { kind: advisoryCollection.kind, uid, groupUid: parent };
  tx.logChange({ ...change, before: null, after: row });
  tx.logChange({ ...change, before: row, after: null });
}

/** Stores a deleted or withdrawn advisory: clients can still read it by its uid. */
export async function keepDeleted(tx: Transaction, state: AdvisoryState, deleteTime: number): Promise<void> {
  const { row, events } = withDerived(state);
  const { uid, parent, name } = row;
  const changeTime = tx.context.time;
  await insertDeletedAdvisory(tx, { uid, parent, name, deleteTime, changeTime, advisory: row, events: [...events] });
}
