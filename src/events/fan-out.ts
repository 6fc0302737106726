// Goes through the change log, once for all, and puts what is to be told into the queues of those who subscribed to it.

import { ancestorsOf } from "../model/uid.ts";
import type { EventDefinition } from "../resource/event-definition.ts";
import { lastChangeByUid, readChangeHeads, readChanges } from "../storage/change-log/change-log.ts";
import type { Database } from "../storage/database.ts";
import { StorageUnavailable } from "../storage/engine/errors.ts";
import type { Session, WriteContext } from "../storage/engine/session.ts";
import { enqueueEvent, type StoredEvent } from "../storage/events/delivery-queues.ts";
import {
  advanceEventPosition,
  findSubscribers,
  lockSubscriptions,
  readEventPosition,
  type Subscriber,
} from "../storage/events/subscribers.ts";
import { type Changes, cloudEventOf } from "./cloud-event.ts";

const bounds = {
  /** Changes that are read at once: more than one call makes of what it is told of. */
  changes: 500,
  /** Events that are made at once, and written together; fewer when they have more deliveries together, but one at least. */
  events: 50,
  deliveries: 2_000,
} as const;

/** What fanning out rests on. */
export interface FanOutContext {
  readonly database: Database;
  /** The event of a method or an endpoint, by its path; undefined for what causes none. */
  readonly find: (method: string) => EventDefinition | undefined;
  /** The address of this server. */
  readonly baseUrl: string;
  readonly warn: (about: object, message: string) => void;
}

type Head = Awaited<ReturnType<typeof readChangeHeads>>[number];

/** An event that somebody may want to know of. */
interface Occurrence {
  readonly definition: EventDefinition;
  readonly head: Head;
  /** How many changes it is about, one after the other but for those of other kinds. */
  readonly size: number;
}

/** An occurrence, and who is to be told of it. */
interface Told extends Occurrence {
  readonly subscriptionUids: readonly string[];
}

/** Reads on in the log, and answers whether that was all. Where another node has read on meanwhile, nothing happens. */
export async function fanOut(deps: FanOutContext, context: WriteContext): Promise<boolean> {
  const { session } = deps.database;
  const position = await readEventPosition(session);
  const heads = await readChangeHeads(session, position, bounds.changes);
  const complete = heads.length < bounds.changes ? heads : withoutLastCall(heads);
  const last = complete.at(-1);
  if (!last) return true;
  const all = await toldOf(session, occurrencesIn(complete, deps.find), position);
  const told = all.slice(0, portionOf(all));
  const next = all[told.length];
  // One after the other: the connections of the database are for those who call.
  const events: (StoredEvent | undefined)[] = [];
  for (const one of told) events.push(await eventOf(deps, one));
  // Nobody waits for it, and many of them follow an import, whose commits they would cut short.
  await deps.database.write({ ...context, isBulk: true }, async (tx) => {
    if (!(await advanceEventPosition(tx, position, next ? next.head.sequence - 1 : last.sequence))) return;
    const there = await lockSubscriptions(tx, [...new Set(told.flatMap(({ subscriptionUids }) => subscriptionUids))]);
    for (const [i, event] of events.entries()) {
      // One that has gone since is told nothing more.
      const to = told[i]!.subscriptionUids.filter((uid) => there.has(uid));
      if (event && to.length > 0) await enqueueEvent(tx, event, to);
    }
  });
  return next === undefined && heads.length < bounds.changes;
}

/** Leaves out the call that may not have ended, unless there is no other. */
function withoutLastCall(heads: readonly Head[]): readonly Head[] {
  const last = heads.at(-1)!;
  const begin = heads.findIndex((head) => isSameCall(head, last));
  return begin === 0 ? heads : heads.slice(0, begin);
}

/** Whether two changes, one not long after the other, are of one call. */
function isSameCall(a: Head, b: Head): boolean {
  return a.requestId === b.requestId && a.method === b.method && a.time === b.time;
}

function occurrencesIn(heads: readonly Head[], find: FanOutContext["find"]): Occurrence[] {
  const found: { definition: EventDefinition; head: Head; size: number }[] = [];
  for (const head of heads) {
    const definition = find(head.method);
    if (definition?.kind !== head.kind) continue;
    const before = found.at(-1);
    if (definition.isBatch && before && isSameCall(before.head, head)) before.size++;
    else found.push({ definition, head, size: 1 });
  }
  return found;
}

async function toldOf(session: Session, occurrences: readonly Occurrence[], position: number): Promise<Told[]> {
  const groups = occurrences.map(({ definition, head }) => definition.group(head.uid));
  const above = groups.map((group) => [...ancestorsOf(group), group]);
  const subscribers = await findSubscribers(session, [...new Set(above.flat())]);
  const byGroup = Map.groupBy(subscribers, ({ parent }) => parent);
  // Read after them, so that it knows of each; nothing changes a subscription but its deletion.
  const created = await lastChangeByUid(session, "subscriptions", position);
  return occurrences.flatMap((occurrence, i) => {
    const meant = above[i]!.flatMap((group) => byGroup.get(group) ?? []).filter((one) =>
      isMeant(one, occurrence, created),
    );
    return meant.length > 0 ? [{ ...occurrence, subscriptionUids: meant.map(({ uid }) => uid) }] : [];
  });
}

/**
 * What was before a subscription is not told. Its own creation is, by which its sink can be seen to work. The log says what was
 * before, not the time: clocks differ, and are put right.
 */
function isMeant({ uid }: Subscriber, { head }: Occurrence, created: ReadonlyMap<string, number>): boolean {
  return head.sequence >= (created.get(uid) ?? 0);
}

/** How many of the first are written together. */
function portionOf(all: readonly Told[]): number {
  let deliveries = 0;
  const beyond = all.findIndex(({ subscriptionUids }, i) => {
    deliveries += subscriptionUids.length;
    return i === bounds.events || (i > 0 && deliveries > bounds.deliveries);
  });
  return beyond < 0 ? all.length : beyond;
}

/** Undefined when the log has it no more: changes are kept as long as the operator says. */
async function eventOf({ database, baseUrl, warn }: FanOutContext, told: Told): Promise<StoredEvent | undefined> {
  const { definition, head, size } = told;
  // Those of other kinds may stand in between.
  const read = await readChanges(database.session, head.sequence - 1, size === 1 ? 1 : bounds.changes);
  const [first, ...others] = read
    .filter((change) => isSameCall(change, head) && change.kind === head.kind)
    .slice(0, size);
  if (first?.sequence !== head.sequence) return undefined;
  const changes: Changes = [first, ...others];
  try {
    const event = await cloudEventOf(definition, changes, database.session, baseUrl);
    return { sequence: head.sequence, time: head.time, ...event };
  } catch (err) {
    if (err instanceof StorageUnavailable) throw err;
    // One event that cannot be made must not keep all that follow from being told.
    warn({ err, sequence: head.sequence }, "an event could not be made, and is left out");
    return undefined;
  }
}
