// Pages of searches (Authorization API 1.0 §8.2).
import { invalidField } from "../aip/errors.ts";
import { maxPageSize } from "../aip/pagination.ts";
import { isMissing, type Members, readOptionalObject, readText } from "./request.ts";

/** The page that a request asks for. */
export interface PageRequest {
  readonly limit: number;
  /** Empty for the first page. */
  readonly token: string;
}

/** The response to a search. The page comes first, as §8.3 recommends. */
export interface SearchPage {
  readonly page: { readonly next_token: string; readonly count: number; readonly total?: number };
  readonly context?: object;
  readonly results: readonly object[];
}

/** Reads the page of a request. Throws INVALID_ARGUMENT. */
export function readPage(body: Members): PageRequest {
  const { limit, token } = readOptionalObject(body.page, "page");
  return { limit: readLimit(limit), token: isMissing(token) ? "" : readText(token, "page.token") };
}

/** Returns a page without a following one. */
export function wholePage(results: readonly object[]): SearchPage {
  return { page: { next_token: "", count: results.length, total: results.length }, results };
}

/** A client that names no limit, or 0, reads few pages. */
function readLimit(limit: unknown): number {
  if (isMissing(limit)) return maxPageSize;
  if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 0)
    throw invalidField("page.limit", "must be a non-negative integer");
  return Math.min(limit || maxPageSize, maxPageSize);
}
