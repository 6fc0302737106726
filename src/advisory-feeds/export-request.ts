// Parses the parts of requests that all feeds have: the group and the parameters.
import { invalidField } from "../aip/errors.ts";
import type { EndpointRequest } from "../transport/pages/endpoints.ts";

/** The parameters of an export. */
export interface ExportOptions {
  readonly author: string;
  readonly ecosystem: string;
}

const defaults: ExportOptions = { author: "Gatehouse", ecosystem: "Chainguard" };

/** The longest value of a parameter. */
const maxLength = 256;

/** Decodes a segment of a path, which the error names. Throws INVALID_ARGUMENT. */
export function decodeSegment(text: string, name: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidField(name, "has a malformed escape");
  }
}

/** Parses the parameters, with their defaults. Throws INVALID_ARGUMENT. */
export function parseOptions(query: EndpointRequest["query"]): ExportOptions {
  const given = new Map<string, string>();
  for (const [name, value] of query) {
    if (!Object.hasOwn(defaults, name)) throw invalidField(name || "query", "is not a parameter of an export");
    if (given.has(name)) throw invalidField(name, "must not be given twice");
    if (value === "" || value.length > maxLength || /\p{C}/u.test(value))
      throw invalidField(name, `must have 1 to ${maxLength} characters, and no control characters`);
    given.set(name, value);
  }
  return { ...defaults, ...Object.fromEntries(given) };
}
