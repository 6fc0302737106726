// Finds resources by the beginning of their name, or by any words of it.

import { rootOf } from "../../model/uid.ts";
import { subtreesWithin } from "../../pipeline/authorize.ts";
import type { ResourceRow } from "../../storage/collection/collection.ts";
import { findRows } from "../../storage/collection/rows.ts";
import { readNamed } from "../../storage/list/named-rows.ts";
import { findCandidates } from "../../storage/names/word-search.ts";
import { haveWords, wordsOf } from "../../storage/names/words.ts";
import { compareNames, type Found, type FoundRows, readAtMost } from "./found.ts";
import type { NamedKind } from "./named-kinds.ts";
import { isSearched, type Query, sourcesOf } from "./query.ts";

type NamedCollection = Parameters<typeof readNamed>[1];

/** Returns the resources of a kind whose names begin with the text, up to one more than the limit: it shows that there are more. */
export async function findByBeginning(query: Query, kind: NamedKind, beginning = query.text): Promise<FoundRows> {
  const { sources, isCut } = sourcesOf(query, kind);
  if (sources.length === 0) return { found: [], truncated: false };
  if (kind.hasBuiltIn) sources.push({ type: "children", uid: null });
  const collection = kind.collection as unknown as NamedCollection;
  const rows = await readNamed(query.session, collection, sources, beginning, query.limit + 1);
  return { found: rows.map((row) => shown(kind, row)), truncated: isCut };
}

/** Returns the resources of a kind whose names have all words of the query. */
export async function findByWords(query: Query, kind: NamedKind): Promise<FoundRows> {
  const { session, parent, words, call } = query;
  if (words.length === 0 || subtreesWithin(call, kind.capability, parent).length === 0)
    return { found: [], truncated: false };
  const wanted = { root: rootOf(parent), kind: kind.collection.kind, words };
  const { uids, isCut } = await findCandidates(session, wanted);
  const searched = uids.filter((uid) => isSearched(query, kind, uid));
  const rows = await findRows(session, kind.collection, searched.slice(0, readAtMost));
  const found = rows.filter((row) => haveWords(wordsOf(kind.nameOf(row)), words)).map((row) => shown(kind, row));
  return { found: found.sort(compareNames), truncated: isCut || searched.length > readAtMost };
}

/** Returns a resource as it is shown, without its path. */
export function shown(kind: NamedKind, row: ResourceRow & { readonly description?: string }): Found {
  return { kind: kind.kind, uid: row.uid, name: kind.nameOf(row), description: row.description ?? "" };
}
