import { LRUCache } from "lru-cache";

/** The length of the versions whose parsed forms are kept, for each order. A parsed version takes some thirty bytes a character. */
const maxLength = 64 * 1024;

/** The size of an entry without its version, in characters. */
const entryLength = 16;

/** Stands for a version that cannot be parsed: the cache has no undefined values. */
const nothing = Symbol();

/**
 * Returns the function with a cache of its latest results. A query compares one version with those of all advisories of
 * a package, and the next query often compares with the versions of the same advisories.
 */
export function keepParses<T extends object | undefined>(parse: (version: string) => T): (version: string) => T {
  const kept = new LRUCache<string, NonNullable<T> | typeof nothing>({
    maxSize: maxLength,
    sizeCalculation: (_, version) => entryLength + version.length,
  });
  return (version) => {
    const known = kept.get(version);
    if (known !== undefined) return known === nothing ? (undefined as T) : known;
    const parsed = parse(version);
    kept.set(version, parsed ?? nothing);
    return parsed;
  };
}
