// Sends the records of an import in batches. A few batches are in flight while the next files are read.

import type { AdvisoryRecord } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { maxValues } from "../../../transport/http/message-size.ts";

/** A record with its key, and its size in bytes and values as a message. */
export interface Item {
  readonly record: AdvisoryRecord;
  readonly key: string;
  readonly size: number;
  readonly values: number;
}

/** Sends items in batches. What a batch fails with, each method rejects with, and nothing more is sent. */
export interface Sender<I extends Item> {
  /** Two items of one key are never under way at the same time: the caller settles the key of the first before. */
  add(item: I): Promise<void>;
  /** Waits until the items of this key have been answered. */
  settle(key: string): Promise<void>;
  /** Calls the function once all items that were added so far have been answered. */
  afterwards(work: () => Promise<void>): void;
  /** Sends the rest, and waits until all requests have responses. */
  finish(): Promise<void>;
  /** Waits for requests in flight, and sends nothing more. Does not reject. */
  abandon(): Promise<void>;
}

/**
 * A request holds at most as many records as the server takes, fewer bytes than its limit of 4 MiB, and fewer values than its
 * limit: each record is one more, and so is each other field of the request.
 */
export const maxBatch = { items: 1000, bytes: 3.5 * 1024 * 1024, values: maxValues - 2000 } as const;

/** The records of the first batches: of how fast the server is, nothing is known. */
const firstItems = 100;

/** The server's time for a batch to aim at, in milliseconds. */
const batchMs = 5000;

/** Returns the number of records for the next batches, from the server's time for the last one: at most twice as many. */
export function nextItems(items: number, workMs: number): number {
  const fitting = Math.floor((items * batchMs) / Math.max(workMs, 1));
  return Math.max(1, Math.min(fitting, items * 2, maxBatch.items));
}

/** Requests under way: the next files are read while the server writes. */
const atOnce = 4;

/** Calls of one batch that follow it, at a time. */
const worksAtOnce = 8;

interface Batch<I> {
  readonly items: I[];
  readonly keys: Set<string>;
  readonly works: (() => Promise<void>)[];
  bytes: number;
  values: number;
}

function newBatch<I>(): Batch<I> {
  return { items: [], keys: new Set(), works: [], bytes: 0, values: 0 };
}

/**
 * Opens a sender whose batches `write` brings to the server. It returns how long the server worked on one, in milliseconds, which
 * decides about the size of the next.
 */
export function openSender<I extends Item>(
  write: (items: readonly I[]) => Promise<number>,
  startItems = firstItems,
): Sender<I> {
  const underWay = newUnderWay();
  let batch = newBatch<I>();
  let mostItems = startItems;

  function isFullFor(item: Item): boolean {
    const isTooMuch = batch.bytes + item.size > maxBatch.bytes || batch.values + item.values > maxBatch.values;
    return batch.items.length >= mostItems || isTooMuch;
  }

  async function send({ items, works }: Batch<I>, earlier: readonly Promise<void>[]): Promise<void> {
    if (items.length > 0) {
      const next = nextItems(items.length, await write(items));
      // A batch that was full by bytes does not tell that more records would be too many.
      mostItems = next < items.length ? next : Math.max(mostItems, next);
    }
    if (works.length === 0) return;
    // The items before a work may be in earlier batches, too.
    await Promise.all(earlier);
    if (!underWay.hasFailed()) await runAll(works);
  }

  async function flush(): Promise<void> {
    await underWay.checkFailure();
    if (batch.items.length + batch.works.length === 0) return;
    const sent = batch;
    batch = newBatch();
    await underWay.start(sent.keys, (earlier) => send(sent, earlier));
  }

  return {
    async add(item) {
      await underWay.checkFailure();
      if (batch.items.length > 0 && isFullFor(item)) await flush();
      batch.items.push(item);
      batch.keys.add(item.key);
      batch.bytes += item.size;
      batch.values += item.values;
    },
    async settle(key) {
      if (batch.keys.has(key)) await flush();
      await underWay.settle(key);
    },
    afterwards: (work) => void batch.works.push(work),
    async finish() {
      await flush();
      await underWay.settle();
    },
    abandon: () => underWay.abandon(),
  };
}

/** Tracks the batches that are under way, and the first failure. */
function newUnderWay() {
  /** The keys of each batch. */
  const batches = new Map<Promise<void>, ReadonlySet<string>>();
  let failure: { readonly error: unknown } | undefined;

  /** Throws the failure once all that is under way has ended: the counts are final then. */
  async function checkFailure(): Promise<void> {
    if (!failure) return;
    await Promise.all(batches.keys());
    throw failure.error;
  }

  return {
    checkFailure,
    hasFailed: () => failure !== undefined,
    /** Starts to send a batch, and waits if that many are under way. `send` gets those that began earlier. */
    async start(keys: ReadonlySet<string>, send: (earlier: readonly Promise<void>[]) => Promise<void>): Promise<void> {
      const sending = send([...batches.keys()])
        .catch((error: unknown) => {
          failure ??= { error };
        })
        .finally(() => batches.delete(sending));
      batches.set(sending, keys);
      if (batches.size >= atOnce) await Promise.race(batches.keys());
    },
    /** Waits for the batches with a key, or for all, and throws if one failed. */
    async settle(key?: string): Promise<void> {
      const awaited = [...batches].filter(([, keys]) => key === undefined || keys.has(key));
      await Promise.all(awaited.map(([sending]) => sending));
      await checkFailure();
    },
    async abandon(): Promise<void> {
      failure ??= { error: undefined };
      await Promise.all(batches.keys());
    },
  };
}

/** Rejects with the first failure, after which no more works begin and those that have begun have ended. */
async function runAll(works: readonly (() => Promise<void>)[]): Promise<void> {
  const queue = works.values();
  const failures: unknown[] = [];
  const workers = Array.from({ length: Math.min(worksAtOnce, works.length) }, async () => {
    for (const work of queue) {
      await work().catch((error: unknown) => failures.push(error));
      if (failures.length > 0) return;
    }
  });
  await Promise.all(workers);
  if (failures.length > 0) throw failures[0];
}
