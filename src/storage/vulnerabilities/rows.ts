import type { Collection, ResourceRow } from "../collection/collection.ts";

/** An advisory as it is stored. */
export interface AdvisoryRow extends ResourceRow {
  readonly parent: string;
  /** The public id. */
  readonly name: string;
  /** Empty when there is none. */
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
  /** The aliases as one text. */
  readonly aliasText: string;
  /** When each author had changed what versions before records imported of them, until a record of theirs is stored. */
  readonly sources: { readonly author: string; readonly time: number }[];
  /** The identity of the product; empty where it is not known. */
  readonly product: string;
  /** The keys by which queries for packages and commits find it. */
  readonly lookUpKeys: string[];
  readonly updateTime: number;
}

/** The product of an advisory that is known by its artifact only. */
export const unknownProduct: Pick<AdvisoryRow, "product" | "lookUpKeys"> = { product: "", lookUpKeys: [] };

export const advisoryCollection: Collection<AdvisoryRow> = {
  kind: "advisories",
  rows: (tables) => tables.advisories,
  entries: (tables) => tables.advisoryEntries,
  changesAccess: [],
  internal: ["sources"],
  isExported: true,
  // Its events: some hundred bytes each.
  responseWeight: 3,
};

/** When the author had changed what earlier versions imported of them, in milliseconds since the epoch; 0 when that is not known. */
export function lastImportTime({ sources }: AdvisoryRow, author: string): number {
  return sources.find((source) => source.author === author)?.time ?? 0;
}
