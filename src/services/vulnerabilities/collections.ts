import type { CollectionTables, DerivedTables } from "../../storage/collection/collection.ts";
import { advisoryCollection } from "../../storage/vulnerabilities/rows.ts";
import { advisoryTables } from "../../storage/vulnerabilities/term-check.ts";
import { recordTables } from "./records/record-check.ts";

/** Advisories are derived from records, and search terms from advisories. */
const derived: DerivedTables = {
  tables: (tables) => [...recordTables.tables(tables), ...advisoryTables.tables(tables)],
  async *findings(session) {
    yield* recordTables.findings(session);
    yield* advisoryTables.findings(session);
  },
  // Terms first: deriving an advisory again replaces the terms of its row and events, which must exist.
  repair: async (tx) => (await advisoryTables.repair(tx)) + (await recordTables.repair(tx)),
};

/** All collections of vulnerabilities. */
export const vulnerabilityCollections: readonly CollectionTables[] = [{ ...advisoryCollection, derived }];
