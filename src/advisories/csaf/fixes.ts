// If a package is affected in all versions, and the same vulnerability names fixed versions for the same platform, the package is
// affected before the fix.
import {
  ProductStatus,
  RangeEventType,
  type VersionRange,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { packageKeyOf } from "../product.ts";
import { orderOf, type VersionOrder } from "../versions/order.ts";
import { rangeBefore } from "../versions/ranges.ts";
import type { ReadProduct } from "./read-product.ts";
import { statusWords } from "./words.ts";

/** A product, and the vulnerability's statement about it. */
export interface Stated {
  /** The members of `product_status`. */
  readonly words: readonly string[];
  readonly product: ReadProduct;
}

/** The versions with a fix that a vulnerability names. */
export interface Fixes {
  /** Returns the range before the latest fix of a product of all versions; none for a product of some, or without a fix. */
  rangeOf(product: ReadProduct): VersionRange[];
}

/** Gathers the products with a fix by package and platform. */
export function readFixes(stated: Iterable<Stated>): Fixes {
  const fixes = new Map<string, ReadProduct[]>();
  for (const { words, product } of stated) {
    if (product.subcomponent !== "" || !words.some((word) => statusWords.get(word) === ProductStatus.FIXED)) continue;
    const key = keyOf(product);
    const known = fixes.get(key);
    if (known) known.push(product);
    else fixes.set(key, [product]);
  }
  // The fixes of a package may be asked for by thousands of statements.
  const latest = new Map<string, string | undefined>();
  return {
    rangeOf(about) {
      const { product, versions, ranges, subcomponent, architecture } = about;
      if (product.purl === "" || subcomponent !== "" || versions.length + ranges.length > 0) return [];
      const key = `${keyOf(about)}\n${architecture}`;
      if (!latest.has(key)) latest.set(key, latestFix(fixes.get(keyOf(about)) ?? [], about));
      const version = latest.get(key);
      return version === undefined ? [] : [rangeBefore(version)];
    },
  };
}

function latestFix(fixes: readonly ReadProduct[], { product, architecture }: ReadProduct): string | undefined {
  const fixed = fixes.filter(
    (each) => [each.architecture, architecture].includes("") || each.architecture === architecture,
  );
  return latestOf([...new Set(fixed.flatMap(startsOf))], orderOf(product));
}

function keyOf({ product, release }: ReadProduct): string {
  return `${packageKeyOf(product)}\n${release}`;
}

/** Returns the versions with a fix; of ranges, those since which all have it. */
function startsOf({ versions, ranges }: ReadProduct): string[] {
  const isOpen = ({ events }: VersionRange) => events.length === 1 && events[0]!.type === RangeEventType.INTRODUCED;
  return [...versions, ...ranges.filter(isOpen).map(({ events }) => events[0]!.version)];
}

/** Returns the latest version; undefined where the order of the versions is not known. */
function latestOf(versions: readonly string[], order: VersionOrder): string | undefined {
  let [latest, ...others] = versions;
  for (const version of others) {
    const place = order(version, latest!);
    if (place === undefined) return undefined;
    if (place > 0) latest = version;
  }
  return latest;
}
