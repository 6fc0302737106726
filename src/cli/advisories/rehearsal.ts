// What a dry run sends: items that bear on each other go in one request, since the server forgets what it has tried after each.
import type { Item, Sender } from "./sender.ts";

/** What one request may hold: as many items as the server takes, and fewer bytes. */
const maxBatch = { items: 200, bytes: 3 * 1024 * 1024 };

/** Items that have an id or a record in common, directly or by way of others, have one root. */
export interface Relations {
  /** The root of an item, and how many items have it. */
  rootOf(item: Item): string;
  countOf(root: string): number;
}

/** Finds which of the items bear on each other. */
export async function relate(items: AsyncIterable<Item>): Promise<Relations> {
  const above = new Map<string, string>();
  const find = (key: string): string => {
    let root = key;
    for (let next = above.get(root); next !== undefined; next = above.get(root)) root = next;
    // A shorter way for those who ask again.
    if (root !== key) above.set(key, root);
    return root;
  };
  const ids: string[] = [];
  for await (const { record } of items) {
    const [root, other] = [find(record.advisoryId), find(record.partOf || record.advisoryId)];
    if (root !== other) above.set(other, root);
    ids.push(record.advisoryId);
  }
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(find(id), (counts.get(find(id)) ?? 0) + 1);
  return { rootOf: ({ record }) => find(record.advisoryId), countOf: (root) => counts.get(root) ?? 0 };
}

/** Opens a sender that keeps items back until all are there that bear on each other. Of more than a request takes, it sends portions. */
export function openRehearsal(write: (items: readonly Item[]) => Promise<void>, relations: Relations): Sender {
  const waiting = new Map<string, Item[]>();
  let batch: Item[] = [];

  async function flush(): Promise<void> {
    const items = batch;
    batch = [];
    if (items.length > 0) await write(items);
  }

  const hasRoomFor = (items: readonly Item[]) =>
    batch.length + items.length <= maxBatch.items && bytesOf(batch) + bytesOf(items) <= maxBatch.bytes;

  async function send(group: readonly Item[]): Promise<void> {
    if (!hasRoomFor(group)) await flush();
    for (const item of group) {
      if (!hasRoomFor([item])) await flush();
      batch.push(item);
    }
  }

  return {
    async add(item) {
      const root = relations.rootOf(item);
      const group = [...(waiting.get(root) ?? []), item];
      if (group.length < relations.countOf(root)) return void waiting.set(root, group);
      waiting.delete(root);
      await send(group);
    },
    async finish() {
      // A file may have changed since it was read first.
      for (const group of waiting.values()) await send(group);
      await flush();
    },
  };
}

function bytesOf(items: readonly Item[]): number {
  return items.reduce((sum, { size }) => sum + size, 0);
}
