import {
  AdvisoriesService,
  AdvisorySchema,
} from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import type { DerivedTables } from "../../storage/collection/collection.ts";
import { advisoryCollection } from "../../storage/vulnerabilities/rows.ts";
import { advisoryTables } from "../../storage/vulnerabilities/term-check.ts";
import { absent, defineOtherKind } from "../kinds/kind.ts";
import { advisories, advisoryView } from "./advisories/advisories.ts";
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

/** Advisories. */
export const advisoryKind = defineOtherKind({
  name: "advisory",
  schema: AdvisorySchema,
  service: AdvisoriesService,
  collection: { ...advisoryCollection, derived },
  implement: advisories,
  file: absent("Advisories have files of their own: OSV, OpenVEX and CSAF."),
  transfer: absent("advisories and their records: use `gatehouse advisories export` and `import`"),
  // Published contract: changes of advisories cause no events.
  recorded: { views: [advisoryView], events: () => [] },
});
