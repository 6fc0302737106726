// Parses the path and the parameters of an export request.
import { type ExportFormat, exportFormats } from "../advisories/exported.ts";
import { invalidField, notFound } from "../aip/errors.ts";
import type { EndpointRequest } from "../transport/pages/endpoints.ts";

/** The path prefix of exports. */
export const exportsPath = "/gatehouse/vulnerabilities/v1/exports/";

/** A parsed request. */
export interface ExportRequest {
  /** The uid of the group, not validated yet. */
  readonly group: string;
  readonly format: ExportFormat;
  readonly options: ExportOptions;
}

/** The parameters of an export. */
export interface ExportOptions {
  readonly author: string;
  readonly ecosystem: string;
}

const defaults: ExportOptions = { author: "Gatehouse", ecosystem: "Chainguard" };

/** The longest value of a parameter. */
const maxLength = 256;

/** Parses an export request. Throws NOT_FOUND and INVALID_ARGUMENT. */
export function parseExport(path: string, query: EndpointRequest["query"]): ExportRequest {
  const rest = path.slice(exportsPath.length);
  const slash = rest.lastIndexOf("/");
  const format = exportFormats.find((each) => rest.slice(slash + 1) === `${each}.json`);
  if (slash < 0 || !format) throw notFound("vulnerabilities.gatehouse/Export", rest);
  return { group: decodeGroup(rest.slice(0, slash)), format, options: { ...defaults, ...parseOptions(query) } };
}

function decodeGroup(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidField("parent", "has a malformed escape");
  }
}

function parseOptions(query: EndpointRequest["query"]): Partial<ExportOptions> {
  const given = new Map<string, string>();
  for (const [name, value] of query) {
    if (!Object.hasOwn(defaults, name)) throw invalidField(name || "query", "is not a parameter of an export");
    if (given.has(name)) throw invalidField(name, "must not be given twice");
    if (value === "" || value.length > maxLength || /\p{C}/u.test(value))
      throw invalidField(name, `must have 1 to ${maxLength} characters, and no control characters`);
    given.set(name, value);
  }
  return Object.fromEntries(given);
}
