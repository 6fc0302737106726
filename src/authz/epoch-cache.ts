// Caches values read from the database until anyone's access changes.
import { LRUCache } from "lru-cache";

/** A cache for one access epoch: asking for another epoch clears it. */
export interface EpochCache<V extends object> {
  find(epoch: number, key: string): V | undefined;
  /** Stores a value unless the epoch has moved on since it was read. */
  keep(epoch: number, key: string, value: V): void;
  /** The number of values. */
  readonly entries: number;
}

/** Creates a cache of values with this total weight. A value weighs 1 by default. */
export function newEpochCache<V extends object>(maximum: number, weigh = (_value: V) => 1): EpochCache<V> {
  const cache = new LRUCache<string, V>({ maxSize: maximum, sizeCalculation: weigh });
  let current = -1;
  return {
    get entries() {
      return cache.size;
    },
    find(epoch, key) {
      if (epoch !== current) {
        cache.clear();
        current = epoch;
      }
      return cache.get(key);
    },
    keep(epoch, key, value) {
      if (epoch === current) cache.set(key, value);
    },
  };
}
