import type { CollectionTables, DerivedTables } from "../../storage/collection/collection.ts";
import { advisoryCollection } from "../../storage/vulnerabilities/rows.ts";
import { advisoryTables } from "../../storage/vulnerabilities/term-check.ts";
import { recordTables } from "./records/record-check.ts";

/** Advisories follow from records, and what they are found by follows from them. */
const derived: DerivedTables = {
  tables: (tables) => [...recordTables.tables(tables), ...advisoryTables.tables(tables)],
  async *findings(session) {
    yield* recordTables.findings(session);
    yield* advisoryTables.findings(session);
  },
  // Terms first: to derive an advisory again replaces the terms of its row and events, which have to be there, and no others.
  repair: async (tx) => (await advisoryTables.repair(tx)) + (await recordTables.repair(tx)),
};

/** Every collection of vulnerabilities, for what concerns them all. */
export const vulnerabilityCollections: readonly CollectionTables[] = [{ ...advisoryCollection, derived }];
