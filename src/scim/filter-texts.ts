// The texts of a filter are JSON (RFC 7644 §3.4.2.2). The library that parses filters reads the escape \\" only, so it gets numbered
// placeholders instead of texts.
import type { Filter } from "scim2-parse-filter";

/**
 * Replaces each text of a filter by a placeholder, and returns the texts that JSON reads there. Throws if one is not JSON.
 *
 * For `displayName eq "R\\u0026D"` returns `displayName eq "0"` and `["R&D"]`.
 */
export function replaceTexts(filter: string): { filter: string; texts: string[] } {
  const texts: string[] = [];
  const replaced = filter.replace(/"(?:[^"\\]|\\.)*"/g, (literal) => {
    texts.push(JSON.parse(literal));
    return `"${texts.length - 1}"`;
  });
  return { filter: replaced, texts };
}

/** Returns a parsed filter with the texts in the place of their placeholders. */
export function restoreTexts(filter: Filter, texts: readonly string[]): Filter {
  if (filter.op === "and" || filter.op === "or")
    return { ...filter, filters: filter.filters.map((each) => restoreTexts(each, texts)) };
  if (filter.op === "not") return { ...filter, filter: restoreTexts(filter.filter, texts) };
  if (filter.op === "[]") return { ...filter, valFilter: restoreTexts(filter.valFilter, texts) };
  if (!("compValue" in filter) || typeof filter.compValue !== "string") return filter;
  return { ...filter, compValue: texts[Number(filter.compValue)]! };
}
