// A small evaluator of OSV records with ranges of the type SEMVER, by https://ossf.github.io/osv-schema/#evaluation and written
// apart from the product.
import type { Json } from "../../cli/advisories/desk.ts";

/** Whether a record says that a version of a Go module is affected. Package URLs have module paths in lower case. */
export function affects(record: Json, name: string, version: string): boolean {
  if (record.withdrawn) return false;
  const items: Json[] = (record.affected ?? []).filter(
    (item: Json) => item.package?.ecosystem === "Go" && item.package.name.toLowerCase() === name.toLowerCase(),
  );
  return items.some(({ ranges = [], versions = [] }) => {
    if (ranges.length + versions.length === 0) return true;
    return versions.includes(version) || ranges.some(({ events }: Json) => isWithin(events, version));
  });
}

function isWithin(events: Json[], version: string): boolean {
  const steps = events.map((event) => Object.entries(event)[0] as [kind: string, at: string]);
  let affected = false;
  for (const [kind, at] of steps.toSorted(([, a], [, b]) => compare(a, b))) {
    const order = compare(version, at);
    if (kind === "introduced" && order >= 0) affected = true;
    if (kind === "fixed" && order >= 0) affected = false;
    if (kind === "last_affected" && order > 0) affected = false;
  }
  return affected;
}

/** The order of https://semver.org/#spec-item-11; "0" is before every version. */
export function compare(a: string, b: string): number {
  if (a === "0" || b === "0") return Number(b === "0") - Number(a === "0");
  const [first, second] = [parse(a), parse(b)];
  for (let i = 0; i < 3; i++) {
    const order = Number(first.core[i] ?? 0) - Number(second.core[i] ?? 0);
    if (order !== 0) return order;
  }
  if (first.before.length === 0 || second.before.length === 0) return second.before.length - first.before.length;
  for (let i = 0; i < Math.max(first.before.length, second.before.length); i++) {
    const order = compareParts(first.before[i], second.before[i]);
    if (order !== 0) return order;
  }
  return 0;
}

function compareParts(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(b === undefined) - Number(a === undefined);
  const [isNumber, isOther] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber && isOther) return Number(BigInt(a) - BigInt(b));
  if (isNumber !== isOther) return isNumber ? -1 : 1;
  return a < b ? -1 : Number(a > b);
}

function parse(version: string): { readonly core: readonly string[]; readonly before: readonly string[] } {
  const [, core = "", before] = /^v?([^-+]*)(?:-([^+]*))?/.exec(version) ?? [];
  return { core: core.split("."), before: before === undefined ? [] : before.split(".") };
}
