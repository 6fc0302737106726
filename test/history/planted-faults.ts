// Faults that the test plants in its server processes, to prove that it would find them. The program has no such switch:
// preload.ts changes the text of a module while Node loads it.

/** The variable that names the fault for preload.ts. */
export const plantVariable = "HISTORY_PLANTED_FAULT";

/** The variable that names the file with the difference of the clock for preload.ts. */
export const clockVariable = "HISTORY_CLOCK_FILE";

/** A replacement in a module of the program. */
export interface Replacement {
  /** Part of the URL of the module. */
  readonly module: string;
  readonly find: string;
  readonly replace: string;
}

/** The faults. Each `find` occurs once in the modules that it names. */
export const plantedFaults = {
  /** Caches on PostgreSQL never learn that anything has changed. */
  "stale-cache": {
    module: "/src/storage/engine/postgres/",
    find: "version: ++version,",
    replace: "version,",
  },
  /** A server acknowledges some writes and rolls them back. */
  "lost-write": {
    module: "/src/storage/engine/postgres/",
    find: 'const committed = client.query("COMMIT");',
    replace:
      'const committed = Math.random() < 0.02 ? client.query("ROLLBACK").then(() => ({ command: "COMMIT" })) : client.query("COMMIT");',
  },
  /** Lists may come from a standby that lags. */
  "stale-replica": {
    module: "/src/storage/engine/postgres/",
    find: "if (isSameEntry(end, last)) return;",
    replace: "return;",
  },
  /** A server reads the access epoch once and never again. */
  "stale-epoch": {
    module: "/src/storage/cache/access-epoch.ts",
    find: "return Number(row!.value ?? 0);",
    replace: "return (globalThis.knownEpoch ??= Number(row!.value ?? 0));",
  },
  /** A stream of changes leaves some out. */
  "lost-change": {
    module: "/src/services/audit-log/watch/change-feed.ts",
    find: "if (!filter.matches(change.head)) continue;",
    replace: "if (!filter.matches(change.head) || Math.random() < 0.02) continue;",
  },
} as const satisfies Readonly<Record<string, Replacement>>;

/** The name of a planted fault. */
export type PlantedFault = keyof typeof plantedFaults;

/** The names of all planted faults. */
export const plantedFaultNames = Object.keys(plantedFaults) as readonly PlantedFault[];
