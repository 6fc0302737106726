// Comparisons that the orders of several ecosystems have in common.
import { compareTexts } from "../../base/compare-texts.ts";

/** Compares texts of digits as numbers of any length. The empty text is 0. */
export function compareDigits(a: string, b: string): number {
  const [left, right] = [a.replace(/^0+/, ""), b.replace(/^0+/, "")];
  return left.length - right.length || compareTexts(left, right);
}

/** Compares item by item; `missing` pads the shorter list. */
export function compareItems<T>(
  a: readonly T[],
  b: readonly T[],
  compare: (left: T, right: T) => number,
  missing: T,
): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const order = compare(a[i] ?? missing, b[i] ?? missing);
    if (order !== 0) return order;
  }
  return 0;
}

/** Compares item by item; of two lists that begin alike the shorter is first. */
export function compareLists<T, Order extends number | undefined>(
  a: readonly T[],
  b: readonly T[],
  compare: (left: T, right: T) => Order,
): Order | number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compare(a[i]!, b[i]!);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Compares the labels of versions before a release (SemVer 2.0, §11): without labels it is the release, which is after them. */
export function compareLabels(
  a: readonly string[],
  b: readonly string[],
  compare: (left: string, right: string) => number,
): number {
  return a.length === 0 || b.length === 0 ? b.length - a.length : compareLists(a, b, compare);
}

/** Whether a text is digits only. */
export function isDigits(text: string): boolean {
  return /^[0-9]+$/.test(text);
}

/** Splits "1:2.3" into epoch and rest. A version without an epoch has the epoch 0. */
export function splitEpoch(version: string): readonly [epoch: string, rest: string] {
  const colon = version.indexOf(":");
  return colon > 0 && isDigits(version.slice(0, colon))
    ? [version.slice(0, colon), version.slice(colon + 1)]
    : ["0", version];
}
