// What an import sends: advisories in batches, a few of which are under way while the next files are read.
import type { ImportedAdvisory } from "../../../gen/gatehouse/vulnerabilities/v1/advisory_import_pb.ts";

/** An advisory, the file that it is from, and how many bytes it has as a message. */
export interface Item {
  readonly file: string;
  readonly record: ImportedAdvisory;
  readonly size: number;
}

/** Sends items in batches. What a batch fails with, `add` or `finish` rejects with, and nothing more is sent. */
export interface Sender {
  add(item: Item): Promise<void>;
  finish(): Promise<void>;
}

/** A request holds at most so many advisories, and so many bytes: less than the server takes. */
const maxBatch = { items: 100, bytes: 1024 * 1024 };

/** What the next request sends. */
interface Batch {
  readonly items: Item[];
  /** Of the items, and of the records that they are parts of. */
  readonly ids: Set<string>;
  bytes: number;
}

const newBatch = (): Batch => ({ items: [], ids: new Set(), bytes: 0 });

/** Requests under way: the next files are read while the server writes. */
const atOnce = 2;

/** Opens a sender whose batches `write` brings to the server. */
export function openSender(write: (items: readonly Item[]) => Promise<void>): Sender {
  /** Each request, and the ids in it. */
  const underWay = new Map<Promise<void>, ReadonlySet<string>>();
  let batch = newBatch();
  let failure: { readonly error: unknown } | undefined;

  async function flush(): Promise<void> {
    await checkFailure();
    if (batch.items.length === 0) return;
    const sending = write(batch.items)
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => underWay.delete(sending));
    underWay.set(sending, batch.ids);
    batch = newBatch();
    if (underWay.size >= atOnce) await Promise.race(underWay.keys());
  }

  /** What else is under way ends first: whoever hears of the failure is told what was written. */
  async function checkFailure(): Promise<void> {
    if (!failure) return;
    await Promise.all(underWay.keys());
    throw failure.error;
  }

  /** Two of one id must not be written at the same time, nor a record and parts of another copy of it: the later one wins. */
  async function waitFor(id: string, record: string): Promise<void> {
    if (batch.ids.has(id)) await flush();
    const isOfSame = (sent: ReadonlySet<string>) => sent.has(id) || sent.has(record);
    await Promise.all([...underWay].filter(([, sent]) => isOfSame(sent)).map(([sending]) => sending));
    await checkFailure();
  }

  return {
    async add(item) {
      const { advisoryId: id, partOf } = item.record;
      const record = partOf || id;
      await waitFor(id, record);
      if (batch.items.length === maxBatch.items || batch.bytes + item.size > maxBatch.bytes) await flush();
      batch.items.push(item);
      batch.ids.add(id).add(record);
      batch.bytes += item.size;
    },
    async finish() {
      await flush();
      await Promise.all(underWay.keys());
      await checkFailure();
    },
  };
}
