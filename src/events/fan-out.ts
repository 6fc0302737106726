// Goes through the change log, once for all, and puts what is to be told into the queues of those who subscribed to it.
import type { EventDefinition } from "../resource/event-definition.ts";
import { readChangeHeads } from "../storage/changes.ts";
import type { Database } from "../storage/database.ts";
import {
  type Delivery,
  enqueueDelivery,
  findSubscribers,
  moveEventPosition,
  readEventPosition,
  type Subscriber,
} from "../storage/event-queues.ts";
import type { Session, WriteContext } from "../storage/session.ts";
import { ancestorsOf } from "../uid.ts";

/** The changes that are read at once: more than one call makes of what it is told of. */
const portion = 500;

/** The event of a method, by its path; undefined for a method that causes none. */
export type FindDefinition = (method: string) => EventDefinition | undefined;

type Head = Awaited<ReturnType<typeof readChangeHeads>>[number];

/** An event that somebody may want to know of. */
interface Occurrence {
  readonly sequence: number;
  readonly time: number;
  /** The group that it is filed under. */
  readonly group: string;
}

/** Reads on in the log, and answers whether that was all. Where another node has read on meanwhile, nothing happens. */
export async function fanOut(database: Database, find: FindDefinition, context: WriteContext): Promise<boolean> {
  const { session } = database;
  const position = await readEventPosition(session);
  const heads = await readChangeHeads(session, position, portion);
  const complete = heads.length < portion ? heads : withoutLastCall(heads);
  const last = complete.at(-1);
  if (!last) return true;
  const deliveries = await deliveriesOf(session, occurrencesIn(complete, find));
  await database.write(context, async (tx) => {
    if (!(await moveEventPosition(tx, position, last.sequence))) return;
    for (const delivery of deliveries) await enqueueDelivery(tx, delivery);
  });
  return heads.length < portion;
}

/** Whether two changes, one after the other, are of one call. */
export function isSameCall(a: Call, b: Call): boolean {
  return a.requestId === b.requestId && a.method === b.method && a.time === b.time;
}

type Call = Pick<Head, "requestId" | "method" | "time">;

/** Leaves out the call that may not have ended, unless there is no other. */
function withoutLastCall(heads: readonly Head[]): readonly Head[] {
  const last = heads.at(-1)!;
  const begin = heads.findIndex((head) => isSameCall(head, last));
  return begin === 0 ? heads : heads.slice(0, begin);
}

function occurrencesIn(heads: readonly Head[], find: FindDefinition): Occurrence[] {
  let batch: Head | undefined;
  return heads.flatMap((head) => {
    const definition = find(head.method);
    if (definition?.kind !== head.kind) return [];
    if (definition.isBatch) {
      if (batch && isSameCall(batch, head)) return [];
      batch = head;
    }
    return [{ sequence: head.sequence, time: head.time, group: definition.group(head.uid) }];
  });
}

async function deliveriesOf(session: Session, occurrences: readonly Occurrence[]): Promise<Delivery[]> {
  const above = occurrences.map(({ group }) => [...ancestorsOf(group), group]);
  const subscribers = await findSubscribers(session, [...new Set(above.flat())]);
  const byGroup = Map.groupBy(subscribers, ({ parent }) => parent);
  return occurrences.flatMap(({ sequence, time }, i) =>
    above[i]!.flatMap((group) => byGroup.get(group) ?? [])
      .filter((subscriber) => isMeant(subscriber, time))
      .map(({ uid }) => ({ subscriptionUid: uid, sequence })),
  );
}

/** What was before a subscription is not told. Its own creation is, by which its sink can be seen to work. */
function isMeant({ createTime }: Subscriber, time: number): boolean {
  return time >= createTime;
}
