// What both databases owe to the rest of the program, in the same words.
import { describe } from "node:test";
import { accessEpochConformance } from "./access-epoch.ts";
import { changesConformance } from "./changes.ts";
import { checkConformance } from "./check.ts";
import { concurrencyConformance } from "./concurrency.ts";
import { conditionsConformance } from "./conditions.ts";
import { confinementConformance } from "./confinement.ts";
import { countersConformance } from "./counters.ts";
import { entryTailsConformance } from "./entry-tails.ts";
import { installationConformance } from "./installation.ts";
import { listingConformance } from "./listing.ts";
import { memoryBoundsConformance } from "./memory-bounds.ts";
import { milestonesConformance } from "./milestones.ts";
import { orderedNamesConformance } from "./ordered-names.ts";
import { rememberedConformance } from "./remembered.ts";
import { rowsConformance } from "./rows.ts";
import type { OpenStore } from "./stores.ts";
import { sweepConformance } from "./sweep.ts";

/** Declares the tests that a database of any dialect must pass. */
export function conformance(name: string, open: OpenStore): void {
  describe(`storage on ${name}`, () => {
    rowsConformance(open);
    listingConformance(open);
    orderedNamesConformance(open);
    entryTailsConformance(open);
    milestonesConformance(open);
    rememberedConformance(open);
    memoryBoundsConformance(open);
    conditionsConformance(open);
    countersConformance(open);
    changesConformance(open);
    accessEpochConformance(open);
    installationConformance(open);
    sweepConformance(open);
    checkConformance(open);
    confinementConformance(open);
    concurrencyConformance(open);
  });
}
