import type { SearchRequest } from "../../../gen/gatehouse/search/v1/search_pb.ts";
import { invalidField } from "../../aip/errors.ts";
import { isWithin } from "../../model/uid.ts";
import { accessOf, subtreesWithin } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import type { Session } from "../../storage/engine/session.ts";
import type { RangeSource } from "../../storage/list/source.ts";
import { queryWords } from "../../storage/names/words.ts";
import type { NameReader } from "./name-reader.ts";
import type { NamedKind } from "./named-kinds.ts";

/** Results of each kind: by default, and at most. */
const pageSizes = { default: 10, max: 50 };

/** How many subtrees one call searches for each kind: one for each group where a caller may list it. */
const maxSubtrees = 100;

/** A search, and what it reads with. */
export interface Query {
  readonly session: Session;
  readonly call: Call;
  readonly reader: NameReader;
  readonly parent: string;
  /** The text as it was given, and in lower case. */
  readonly given: string;
  readonly text: string;
  readonly words: readonly string[];
  readonly limit: number;
  readonly forGrant: boolean;
}

/** Returns the text to find, the words and the limit of a request. Throws INVALID_ARGUMENT. */
export function readRequest(
  request: SearchRequest,
): Pick<Query, "parent" | "given" | "text" | "words" | "limit" | "forGrant"> {
  const { parent, pageSize, forGrant } = request;
  if (pageSize < 0) throw invalidField("page_size", "must not be negative");
  const given = request.query.trim();
  if (given === "") throw invalidField("query", "is required");
  const limit = Math.min(pageSize === 0 ? pageSizes.default : pageSize, pageSizes.max);
  return { parent, given, text: given.toLowerCase(), words: queryWords(given), limit, forGrant };
}

/** Returns the subtrees in which a kind is searched, and whether there are more. */
export function sourcesOf(
  { call, parent }: Query,
  { capability }: NamedKind,
): { sources: RangeSource[]; isCut: boolean } {
  const subtrees = subtreesWithin(call, capability, parent);
  const sources = subtrees.slice(0, maxSubtrees).map((uid): RangeSource => ({ type: "subtree", uid }));
  return { sources, isCut: subtrees.length > maxSubtrees };
}

/** Whether a resource of a kind is in the group to search, and the caller may list it. */
export function isSearched({ call, parent }: Query, { capability }: NamedKind, uid: string): boolean {
  return isWithin(uid, parent) && accessOf(call).has(capability, uid);
}
