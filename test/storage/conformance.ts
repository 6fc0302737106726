// The tests that both databases must pass.
import { describe } from "node:test";
import { accessEpochConformance } from "./cache/access-epoch.ts";
import { cacheLimitsConformance } from "./cache-limits.ts";
import { cachedReadsConformance } from "./cached-reads.ts";
import { changesConformance } from "./change-log/change-log.ts";
import { checkConformance } from "./check/check-database.ts";
import { concurrencyConformance } from "./concurrency.ts";
import { conditionsConformance } from "./conditions.ts";
import { confinementConformance } from "./confinement.ts";
import { countersConformance } from "./engine/counters.ts";
import { freshReadsConformance } from "./fresh-reads.ts";
import { installationConformance } from "./installation.ts";
import { listingConformance } from "./list/list-rows.ts";
import { milestonesConformance } from "./list/offset-index.ts";
import { scansConformance } from "./list/scan.ts";
import { wordIndexConformance } from "./names/word-index.ts";
import { orderedNamesConformance } from "./ordered-names.ts";
import { rowsConformance } from "./rows.ts";
import type { OpenStore } from "./stores.ts";
import { sweepConformance } from "./sweep.ts";

/** Declares the tests that a database of any dialect must pass. */
export function conformance(name: string, open: OpenStore): void {
  describe(`storage on ${name}`, () => {
    rowsConformance(open);
    listingConformance(open);
    orderedNamesConformance(open);
    milestonesConformance(open);
    scansConformance(open);
    cachedReadsConformance(open);
    cacheLimitsConformance(open);
    freshReadsConformance(open);
    conditionsConformance(open);
    countersConformance(open);
    changesConformance(open);
    accessEpochConformance(open);
    installationConformance(open);
    sweepConformance(open);
    checkConformance(open);
    confinementConformance(open);
    concurrencyConformance(open);
    wordIndexConformance(open);
  });
}
