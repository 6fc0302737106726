// What was read of the database and stays true until somebody's access changes.
import { LRUCache } from "lru-cache";

/** What is remembered of one epoch: all of it is forgotten when another is asked for. */
export interface EpochMemory<V extends object> {
  find(epoch: number, key: string): V | undefined;
  /** What was read while the epoch moved on is not kept: it may be older than it. */
  keep(epoch: number, key: string, value: V): void;
}

/** Makes a memory of values that weigh so much together; each weighs 1 unless told. */
export function newEpochMemory<V extends object>(maximum: number, weigh = (_value: V) => 1): EpochMemory<V> {
  const cache = new LRUCache<string, V>({ maxSize: maximum, sizeCalculation: weigh });
  let current = -1;
  return {
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
