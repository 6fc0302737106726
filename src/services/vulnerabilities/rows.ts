import type { Collection, ResourceRow } from "../../storage/collection.ts";
import { advisoryLimits } from "./limits.ts";

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
  /** When each author had changed what they say, as far as it was imported; without those who did not say. */
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
  weight: 3,
};

/** When the author had changed what they say of an advisory, as far as it was imported; 0 when they did not say. */
export function toldTime(row: AdvisoryRow, author: string): number {
  // An advisory that was deleted by an earlier version knows of none.
  const { sources = [] }: Partial<AdvisoryRow> = row;
  return sources.find((source) => source.author === author)?.time ?? 0;
}

/** The sources of an advisory after one more import; its time is undefined when the author does not say. */
export function toldBy(sources: AdvisoryRow["sources"], author: string, time: number | undefined) {
  if (time === undefined) return sources;
  const isKnown = sources.some((source) => source.author === author);
  if (!isKnown) return [...sources, { author, time }].slice(-advisoryLimits.sources);
  return sources.map((source) => (source.author === author ? { author, time } : source));
}
