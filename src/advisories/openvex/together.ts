// Advisories that speak of one vulnerability in one product, such as the records of two databases: of their statements, too, the worst
// has to hold.
import { hash } from "node:crypto";
import type { AdvisoryRecord, AdvisoryStatements } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { nextSlice } from "../../base/slices.ts";
import { identityOf } from "../product.ts";
import type { WriteOptions } from "../writing.ts";

/** A number for a product and an id of a vulnerability: fewer bytes than the texts, since all of an export are remembered. */
type Key = number;

/**
 * Returns the advisories in groups: first, one by one, those without a shared product and vulnerability, then the
 * groups of the others. Reads the advisories twice. Keeps the others in memory, and calls `onKept` for each.
 */
export async function* togetherOf(
  advisories: AsyncIterable<AdvisoryStatements>,
  { onKept }: Pick<WriteOptions, "onKept">,
): AsyncGenerator<readonly AdvisoryStatements[]> {
  const shared = await sharedKeys(advisories);
  const kept: AdvisoryStatements[] = [];
  for await (const each of advisories) {
    if (!keysOf(each).some((key) => shared.has(key))) yield [each];
    else {
      onKept?.();
      kept.push(each);
    }
  }
  yield* await groupTogether(kept);
}

/** Returns the keys that several advisories have. That two are equal by chance does no harm. */
async function sharedKeys(advisories: AsyncIterable<AdvisoryStatements>): Promise<ReadonlySet<Key>> {
  const known = new Set<Key>();
  const shared = new Set<Key>();
  for await (const each of advisories) for (const key of keysOf(each)) (known.has(key) ? shared : known).add(key);
  return shared;
}

interface Group {
  readonly keys: Key[];
  readonly advisories: AdvisoryStatements[];
}

/** Groups the advisories by vulnerability and product, in their order. */
async function groupTogether(advisories: readonly AdvisoryStatements[]): Promise<AdvisoryStatements[][]> {
  const groups = new Map<Key, Group>();
  for (const advisory of advisories) {
    await nextSlice();
    const keys = keysOf(advisory);
    const [first = { keys: [], advisories: [] }, ...others] = new Set(keys.flatMap((key) => groups.get(key) ?? []));
    for (const other of others) {
      for (const each of other.advisories) first.advisories.push(each);
      keys.push(...other.keys);
    }
    first.advisories.push(advisory);
    for (const key of keys.filter((each) => groups.get(each) !== first)) {
      first.keys.push(key);
      groups.set(key, first);
    }
  }
  return [...new Set(groups.values())].map((group) => group.advisories);
}

function keysOf({ records }: AdvisoryStatements): Key[] {
  const live = records.filter(({ withdrawTime }) => !withdrawTime);
  const product = live.flatMap(({ statements }) => statements)[0]?.product;
  if (!product) return [];
  const identity = identityOf(product);
  return [...new Set(live.flatMap(idsOf))].map((id) =>
    Number.parseInt(hash("sha1", `${id}\n${identity}`).slice(0, 13), 16),
  );
}

/** Returns the ids of the vulnerability. A record that includes a single one of another source is the same by another name. */
export function idsOf({ vulnerability, aliases, upstream }: AdvisoryRecord): string[] {
  return [...new Set([vulnerability, ...aliases, ...(upstream.length === 1 ? upstream : [])])];
}
