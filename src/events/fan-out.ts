// Reads the change log once for all subscriptions, and adds events to their delivery queues.
import { ancestorsOf } from "../model/uid.ts";
import type { EventDefinition } from "../resource/event-definition.ts";
import { findCreations, readChangeHeads, readChanges } from "../storage/change-log/change-log.ts";
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

const limits = {
  /** How many changes are read at once: more than one call makes for one event. */
  changes: 500,
  /** How many events one transaction writes. */
  events: 50,
  /** How many deliveries one transaction writes, unless a single event has more. */
  deliveries: 2_000,
} as const;

/** The dependencies of the fan-out. */
export interface FanOutContext {
  readonly database: Database;
  /** Finds the event of a method or endpoint by its path; undefined if it causes none. */
  readonly find: (method: string) => EventDefinition | undefined;
  /** The address of this server. */
  readonly baseUrl: string;
  readonly warn: (about: object, message: string) => void;
}

type Head = Awaited<ReturnType<typeof readChangeHeads>>[number];

/** An event before its subscribers are known. */
interface EventCandidate {
  readonly definition: EventDefinition;
  readonly head: Head;
  /** The number of changes that it reports. Changes of other kinds may lie between them. */
  readonly size: number;
}

/** An event with its subscribers. */
interface AddressedEvent extends EventCandidate {
  readonly subscriptionUids: readonly string[];
}

/**
 * Reads the next part of the change log and enqueues its events. Returns whether that was the end. Writes nothing if another node has
 * advanced the position in the meantime.
 */
export async function fanOut(context: FanOutContext, write: WriteContext): Promise<boolean> {
  const { session } = context.database;
  const position = await readEventPosition(session);
  const heads = await readChangeHeads(session, position, limits.changes);
  const complete = heads.length < limits.changes ? heads : withoutLastCall(heads);
  const last = complete.at(-1);
  if (!last) return true;
  const all = await addressEvents(session, candidatesIn(complete, context.find), position);
  const batch = all.slice(0, batchSizeOf(all));
  const next = all[batch.length];
  // Sequentially, to leave the database connections to callers.
  const events: (StoredEvent | undefined)[] = [];
  for (const one of batch) events.push(await eventOf(context, one));
  // Bulk work: no caller waits for it, and after an import there are many such writes.
  await context.database.write({ ...write, isBulk: true }, async (tx) => {
    if (!(await advanceEventPosition(tx, position, next ? next.head.sequence - 1 : last.sequence))) return;
    const there = await lockSubscriptions(tx, [...new Set(batch.flatMap(({ subscriptionUids }) => subscriptionUids))]);
    for (const [i, event] of events.entries()) {
      // A subscription that was deleted since gets no event.
      const to = batch[i]!.subscriptionUids.filter((uid) => there.has(uid));
      if (event && to.length > 0) await enqueueEvent(tx, event, to);
    }
  });
  return next === undefined && heads.length < limits.changes;
}

/** Leaves out the last call, whose changes may be incomplete, unless it is the only one. */
function withoutLastCall(heads: readonly Head[]): readonly Head[] {
  const last = heads.at(-1)!;
  const begin = heads.findIndex((head) => isSameCall(head, last));
  return begin === 0 ? heads : heads.slice(0, begin);
}

/** Whether two changes belong to one call. */
function isSameCall(a: Head, b: Head): boolean {
  return a.requestId === b.requestId && a.method === b.method && a.time === b.time;
}

function candidatesIn(heads: readonly Head[], find: FanOutContext["find"]): EventCandidate[] {
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

async function addressEvents(
  session: Session,
  candidates: readonly EventCandidate[],
  position: number,
): Promise<AddressedEvent[]> {
  const groups = candidates.map(({ definition, head }) => definition.group(head.uid));
  const scopes = groups.map((group) => [...ancestorsOf(group), group]);
  const subscribers = await findSubscribers(session, [...new Set(scopes.flat())]);
  const byGroup = Map.groupBy(subscribers, ({ parent }) => parent);
  // Read after the subscribers to include each of them.
  const created = await findCreations(session, "subscriptions", position);
  return candidates.flatMap((candidate, i) => {
    const addressed = scopes[i]!.flatMap((group) => byGroup.get(group) ?? []).filter(
      (one) => wants(one, candidate) && isAfterSubscription(one, candidate, created),
    );
    return addressed.length > 0 ? [{ ...candidate, subscriptionUids: addressed.map(({ uid }) => uid) }] : [];
  });
}

/** Whether a subscription receives events of the kind. */
function wants({ kinds }: Subscriber, { definition }: EventCandidate): boolean {
  return kinds === null || kinds.length === 0 || kinds.includes(definition.kind);
}

/**
 * A subscription receives its own creation event and everything after it. Order comes from the change log, not from timestamps: clocks
 * differ between nodes.
 */
function isAfterSubscription(
  { uid }: Subscriber,
  { head }: EventCandidate,
  created: ReadonlyMap<string, number>,
): boolean {
  return head.sequence >= (created.get(uid) ?? 0);
}

/** Returns how many of the first events one transaction writes. */
function batchSizeOf(all: readonly AddressedEvent[]): number {
  let deliveries = 0;
  const beyond = all.findIndex(({ subscriptionUids }, i) => {
    deliveries += subscriptionUids.length;
    return i === limits.events || (i > 0 && deliveries > limits.deliveries);
  });
  return beyond < 0 ? all.length : beyond;
}

/** Builds an event. Returns undefined if retention has deleted its changes, or if building it fails. */
async function eventOf(
  { database, baseUrl, warn }: FanOutContext,
  addressed: AddressedEvent,
): Promise<StoredEvent | undefined> {
  const { definition, head, size } = addressed;
  // Changes of other kinds may lie between them.
  const read = await readChanges(database.session, head.sequence - 1, size === 1 ? 1 : limits.changes);
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
    // One broken event must not block the following ones.
    warn({ err, sequence: head.sequence }, "building an event failed; it is skipped");
    return undefined;
  }
}
