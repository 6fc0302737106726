import type { Collection, ResourceRow } from "../../storage/collection.ts";
import { advisoryTables } from "../../storage/term-check.ts";

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
  readonly updateTime: number;
}

export const advisoryCollection: Collection<AdvisoryRow> = {
  kind: "advisories",
  rows: (tables) => tables.advisories,
  entries: (tables) => tables.advisoryEntries,
  changesAccess: [],
  // Its events: some hundred bytes each.
  weight: 3,
  derived: advisoryTables,
};

/** Every collection of vulnerabilities, for what concerns them all. */
export const vulnerabilityCollections = [advisoryCollection] as const;
