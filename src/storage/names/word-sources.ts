// Says which words the search finds resources by, for each kind whose names are indexed.
import type { Collection, ResourceRow } from "../collection/collection.ts";
import { subscriptionCollection } from "../events/rows.ts";
import { groupCollection, identityCollection, identityProviderCollection, roleCollection } from "../iam/collections.ts";
import { repoCollection } from "../registry/rows.ts";
import { type NameWord, storedWords } from "./name-words.ts";
import { laterWordsOf, wordsOf } from "./words.ts";

/** A kind whose names are indexed. */
export interface WordSource {
  readonly collection: Collection<ResourceRow>;
  /** Returns the words of a row. */
  wordsOf(row: NamedColumns): readonly string[];
}

/** The columns that words depend on, as rows and the change log have them. */
export type NamedColumns = Pick<ResourceRow, "uid" | "parent" | "name" | "sink">;

function source<R extends ResourceRow>(
  collection: Collection<R>,
  wordsOfRow: WordSource["wordsOf"] = ({ name = "" }) => laterWordsOf(name),
): WordSource {
  return { collection: collection as unknown as Collection<ResourceRow>, wordsOf: wordsOfRow };
}

/** The kinds, in the order in which they are indexed. Tags are found by the beginning of their names only: "v1.2.3" has no words. */
export const wordSources: readonly WordSource[] = [
  source(groupCollection),
  source(identityCollection),
  source(roleCollection),
  source(identityProviderCollection),
  source(repoCollection),
  source(subscriptionCollection, ({ sink = "" }) => wordsOf(sinkHost(sink))),
];

/** Returns the host of a sink, without what may be a secret. */
export function sinkHost(sink: string): string {
  return URL.canParse(sink) ? new URL(sink).host : "";
}

/** Returns the stored words of a row. Those of people depend on what they have joined; built-in roles belong to no organization. */
export function wordsOfRow({ collection, wordsOf: words }: WordSource, row: NamedColumns | null): NameWord[] {
  const isOutside = row?.parent === null && collection !== (groupCollection as unknown);
  return row && !isOutside ? storedWords(collection.kind, row.uid, words(row)) : [];
}
