// The statuses of the products of a vulnerability: of claims that contradict each other, one holds.

import { ProductStatus } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { type JsonObject, scalarText } from "../../base/json.ts";
import { idOf } from "./catalog.ts";
import type { Loss } from "./claims.ts";
import { type DetailKind, detailKinds } from "./details.ts";
import type { GatheredClaim } from "./gathered.ts";

/** The statuses that contradict each other (CSAF 2.0 §6.1.6), the worst first. */
const worst: readonly ProductStatus[] = [
  ProductStatus.AFFECTED,
  ProductStatus.UNDER_INVESTIGATION,
  ProductStatus.FIXED,
  ProductStatus.NOT_AFFECTED,
];

/** The settled content of a vulnerability: `product_status`, and the flags, threats, remediations and scores. */
export interface Settled {
  readonly statuses: JsonObject;
  readonly details: Readonly<Partial<Record<DetailKind, readonly JsonObject[]>>>;
}

/**
 * Settles the content of a vulnerability. Of several statements of one source on a product, the latest counts; of several sources, the
 * worst. It counts the other statements as lost, and second values of single-valued properties.
 */
export function settle(all: readonly GatheredClaim[], loss: Loss): Settled {
  const claims = settleStatuses(all, loss);
  const statuses = new Map<string, Set<number>>();
  for (const { words, products } of claims) for (const word of words) addAll(statuses, word, products);
  const details = detailKinds.map((kind) => [kind, settleDetails(kind, claims, loss)] as const);
  return {
    statuses: Object.fromEntries([...statuses].map(([word, products]) => [word, idsOf(products)])),
    details: Object.fromEntries(details.filter(([, items]) => items.length > 0)),
  };
}

/** Returns the claims, each with only the products for which it is in force. */
function settleStatuses(all: readonly GatheredClaim[], loss: Loss): GatheredClaim[] {
  const latest = new Map<string, number>();
  const keyOf = (source: string, product: number) => `${product} ${source}`;
  for (const { source, time, products } of all) {
    for (const product of products) {
      const key = keyOf(source, product);
      latest.set(key, Math.max(time, latest.get(key) ?? time));
    }
  }
  const isLatest = ({ source, time }: GatheredClaim, product: number) => latest.get(keyOf(source, product)) === time;
  const ranks = new Map<number, number>();
  for (const claim of all) {
    for (const product of claim.products)
      if (isLatest(claim, product)) ranks.set(product, Math.min(rankOf(claim), ranks.get(product) ?? worst.length));
  }
  return all.flatMap((claim) => {
    const current = claim.products.filter((product) => isLatest(claim, product));
    const products = current.filter((product) => ranks.get(product) === rankOf(claim));
    if (products.length < current.length) loss("a status of which another one for the same product is worse");
    return products.length > 0 ? [{ ...claim, products }] : [];
  });
}

function rankOf({ status }: GatheredClaim): number {
  return worst.indexOf(status);
}

function settleDetails(kind: DetailKind, claims: readonly GatheredClaim[], loss: Loss): JsonObject[] {
  const items = new Map<string, Set<number>>();
  const slots = new Slots();
  for (const { details, products } of claims) {
    for (const [, text] of details.filter(([each]) => each === kind)) {
      const values = slotsOf(kind, JSON.parse(text));
      const free = products.filter((product) =>
        slots.take(product, text, values, () => loss(`a second value in ${kind}`)),
      );
      if (free.length > 0) addAll(items, text, free);
    }
  }
  const name = kind === "scores" ? "products" : "product_ids";
  return [...items].map(([text, numbers]) => ({ ...JSON.parse(text), [name]: idsOf(numbers) }));
}

/** The single-valued properties that an item sets on a product, with their values. */
type SlotValues = readonly (readonly [slot: string, value: string])[];

/** CSAF 2.0 §6.1.33 and §6.1.7: a product has one flag, and one score of each version of CVSS. */
function slotsOf(kind: DetailKind, item: JsonObject): SlotValues {
  if (kind === "flags") return [["flag", scalarText(item.label)]];
  if (kind !== "scores") return [];
  const scores = Object.entries(item).filter(([name]) => name.startsWith("cvss_"));
  return scores.map(([name, value]) => {
    const { version, vectorString } = value as JsonObject;
    return [`${name} ${scalarText(version)}`, scalarText(vectorString)] as const;
  });
}

/** The single-valued properties of products, such as one score for each version of CVSS: a product may have each only once. */
class Slots {
  readonly #taken = new Map<string, { readonly text: string; readonly value: string }>();

  /** Takes the slots of an item if all are free, or taken by an equal item. Calls `differs` for one with another value. */
  take(product: number, text: string, values: SlotValues, differs: () => void): boolean {
    const others = values.flatMap(([slot, value]) => {
      const other = this.#taken.get(`${product} ${slot}`);
      return other && other.text !== text ? [other.value !== value] : [];
    });
    if (others.includes(true)) differs();
    if (others.length > 0) return false;
    for (const [slot, value] of values) this.#taken.set(`${product} ${slot}`, { text, value });
    return true;
  }
}

function addAll(sets: Map<string, Set<number>>, key: string, numbers: readonly number[]): void {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set);
  for (const number of numbers) set.add(number);
}

function idsOf(numbers: Iterable<number>): string[] {
  return [...numbers].sort((a, b) => a - b).map(idOf);
}
