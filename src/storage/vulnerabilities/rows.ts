import type { Collection, ResourceRow } from "../collection/collection.ts";

/** An advisory as it is stored. */
export interface AdvisoryRow extends ResourceRow {
  readonly parent: string;
  /** The public id. */
  readonly name: string;
  /** Empty if there is none. */
  readonly legacyAdvisoryId: string;
  readonly author: string;
  readonly artifactName: string;
  readonly artifactType: string;
  readonly artifactArchitecture: string;
  readonly origin: string;
  readonly componentName: string;
  readonly componentType: string;
  readonly componentLocation: string;
  readonly aliases: string[];
  readonly severities: readonly { readonly type: number; readonly score: string }[];
  readonly latestEventType: number;
  /** The highest base score in tenths; -1 without one, null until it is computed. */
  readonly score: number | null;
  /** When the first source published it, or else its creation; null until it is computed. */
  readonly publishTime: number | null;
  /** The aliases as one text. */
  readonly aliasText: string;
  /** By author, the time of the last import by versions before records, until a record of the author is stored. */
  readonly sources: { readonly author: string; readonly time: number }[];
  /** The identity of the product; empty if unknown. */
  readonly product: string;
  /** The keys by which queries for packages and commits find it. */
  readonly lookUpKeys: string[];
  readonly updateTime: number;
}

/** The product of an advisory that is known by its artifact only. */
export const unknownProduct: Pick<AdvisoryRow, "product" | "lookUpKeys"> = { product: "", lookUpKeys: [] };

/** The columns that `insertState` and `replaceState` set, before they do. */
export const underived: Pick<AdvisoryRow, "latestEventType" | "aliasText" | "score" | "publishTime"> = {
  latestEventType: 0,
  aliasText: "",
  score: null,
  publishTime: null,
};

export const advisoryCollection: Collection<AdvisoryRow> = {
  kind: "advisories",
  rows: (tables) => tables.advisories,
  entries: (tables) => tables.advisoryEntries,
  changesAccess: [],
  internal: ["sources"],
  isExported: true,
  // Its events, about a hundred bytes each.
  responseWeight: 3,
};

/**
 * Returns the time of the author's last import, in milliseconds since the epoch; 0 if unknown. Only versions of the program that stored
 * no records have written it.
 */
export function lastImportTime({ sources }: AdvisoryRow, author: string): number {
  return sources.find((source) => source.author === author)?.time ?? 0;
}
