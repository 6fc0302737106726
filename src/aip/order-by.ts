// AIP-132: "field", "field asc" or "field desc", with a single field.
import type { Violations } from "./violations.ts";

/** A sortable field and a direction. */
export interface OrderBy<F extends string> {
  readonly field: F;
  readonly descending: boolean;
}

/** Parses an order; undefined for an empty text. Adds a violation for fields that are not sortable. */
export function parseOrderBy<F extends string>(
  text: string,
  orderable: Readonly<Record<string, F>>,
  violations: Violations,
): OrderBy<F> | undefined {
  if (text.trim() === "") return undefined;
  const match = /^ *([A-Za-z_][A-Za-z0-9_.]*)(?: +(asc|desc))? *$/.exec(text);
  const field = match?.[1];
  if (field === undefined || !Object.hasOwn(orderable, field)) {
    violations.add("order_by", `must be one of ${Object.keys(orderable).join(", ")}, optionally followed by " desc"`);
    return undefined;
  }
  return { field: orderable[field]!, descending: match?.[2] === "desc" };
}
