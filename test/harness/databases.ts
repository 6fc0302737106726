// The databases that tests run on, and the servers that write to them.
import type { DatabaseKind, TestServerOptions } from "./server.ts";

const all: readonly DatabaseKind[] = ["sqlite", "postgres"];

/** The variable that names the databases of tests, separated by commas. */
export const databasesVariable = "GATEHOUSE_TEST_DATABASES";

/**
 * The databases of tests that both must pass: those that `GATEHOUSE_TEST_DATABASES` names; without it, both. `npm test` runs them on
 * SQLite, and the full matrix on PostgreSQL: the code above `storage/engine` is the same for both.
 */
export const databases: readonly DatabaseKind[] = selectDatabases(process.env[databasesVariable]);

const waysOfWriting: Readonly<Record<string, TestServerOptions & { readonly database: DatabaseKind }>> = {
  "one process on SQLite": { database: "sqlite" },
  "a process that forwards its writes": { database: "sqlite", forwardsWrites: true },
  "one process on PostgreSQL": { database: "postgres" },
};

/** Options of servers whose writes take different ways, by what the servers are. */
export const writingServers: Readonly<Record<string, TestServerOptions>> = Object.fromEntries(
  Object.entries(waysOfWriting).filter(([, { database }]) => databases.includes(database)),
);

function selectDatabases(names: string | undefined): readonly DatabaseKind[] {
  if (names === undefined) return all;
  return names.split(",").map((name) => all.find((kind) => kind === name) ?? fail(name));
}

function fail(name: string): never {
  throw new Error(`${databasesVariable}: unknown database "${name}"; there are ${all.join(", ")}`);
}
