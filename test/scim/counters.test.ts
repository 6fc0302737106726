// The numbers of provisioned users and groups: written with the rows, checked and repaired, and counted by a migration.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { setImmediate as nextTick } from "node:timers/promises";
import BetterSqlite from "better-sqlite3";
import pg from "pg";
import { collections } from "../../src/services/resources.ts";
import { checkDatabase, repairDatabase } from "../../src/storage/check/check-database.ts";
import { setCounter } from "../../src/storage/engine/counters.ts";
import { readScimCounter } from "../../src/storage/iam/scim-counters.ts";
import { childrenKey } from "../../src/storage/schema/entry-keys.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import type { TestServer } from "../harness/server.ts";
import { createProvider, enableScim, type ScimClient, startProvisionedServer } from "./provisioning.ts";

const schemas = (name: string) => [`urn:ietf:params:scim:schemas:core:2.0:${name}`];

after(stopPostgres);

/** Runs SQL unless another connection is writing. Returns whether it ran. */
function hasRun(connection: BetterSqlite.Database, text: string): boolean {
  try {
    connection.exec(text);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === "SQLITE_BUSY") return false;
    throw error;
  }
}

/** Runs SQL on a connection of its own. */
async function execute({ config: { databaseUrl } }: TestServer, text: string): Promise<void> {
  if (!databaseUrl.startsWith("postgres:")) {
    // Waiting for the lock would keep the server, which is in this process, from ending the write that has it.
    const raw = new BetterSqlite(databaseUrl, { timeout: 0 });
    using _connection = { [Symbol.dispose]: () => raw.close() };
    while (!hasRun(raw, text)) await nextTick();
    // All reads of an event-loop tick see one snapshot.
    await nextTick();
    return;
  }
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query(text).finally(() => client.end());
}

for (const database of databases) {
  describe(`counters of provisioned users and groups, ${database}`, () => {
    let server: TestServer;
    let providerUid: string;
    let scim: ScimClient;
    before(async () => {
      server = await startProvisionedServer({ database });
      providerUid = await createProvider(server);
      scim = await enableScim(server, providerUid);
      const ids: string[] = [];
      for (const userName of ["a", "b", "c"])
        ids.push((await scim.send("POST", "/Users", { schemas: schemas("User"), userName })).body.id);
      await scim.send("DELETE", `/Users/${ids[0]}`);
      await scim.send("POST", "/Groups", { schemas: schemas("Group"), displayName: "g" });
    });
    after(() => server[Symbol.asyncDispose]());

    const context = () => ({ actor: "", method: "test", requestId: "", time: server.clock() });
    const findings = async () =>
      (await server.server.database.read((session) => checkDatabase(session, collections))).findings;
    const totals = async () => [
      (await scim.send("GET", "/Users")).body.totalResults,
      (await scim.send("GET", "/Groups?count=0")).body.totalResults,
    ];

    it("change with the rows, and only if the write succeeds", async () => {
      assert.deepEqual(await totals(), [2, 1]);
      assert.equal((await scim.send("POST", "/Users", { schemas: schemas("User"), userName: "B" })).status, 409);
      assert.deepEqual(await totals(), [2, 1]);
      assert.deepEqual(await findings(), []);
    });

    it("the check of the database finds and repairs wrong counters", async () => {
      await server.server.database.write(context(), (tx) => setCounter(tx, childrenKey(providerUid), "scim_users", 7));
      const wrong = `scim_users: the counter of ${providerUid}/* is 7, but there are 2 rows`;
      assert.deepEqual(await findings(), [wrong]);
      assert.equal(await server.server.database.write(context(), (tx) => repairDatabase(tx, collections)), 1);
      assert.deepEqual([await findings(), await totals()], [[], [2, 1]]);
    });

    it("the counters include rows from before the migration", async () => {
      await execute(server, "DELETE FROM counters WHERE kind IN ('scim_users', 'scim_groups')");
      assert.equal((await findings()).length, 2);
      const file = `../../src/storage/schema/migrations/${database}/0004_scim_counters.sql`;
      await execute(server, readFileSync(new URL(file, import.meta.url), "utf8"));
      assert.deepEqual([await findings(), await totals()], [[], [2, 1]]);
    });

    it("the counters are deleted with the provider", async () => {
      const path = `/iam/v2beta1/identityProviders/${providerUid}`;
      assert.equal((await rest(server.url, server.ownerToken, "DELETE", path)).status, 200);
      assert.equal(await readScimCounter(server.server.database.session, "scim_users", providerUid), 0);
      assert.deepEqual(await findings(), []);
    });
  });
}
