// Lists for which a replica is set that cannot be used. test/storage/end-to-end/replica.ts has real standbys.
import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { after, describe, it } from "node:test";
import { newMigratedDatabase } from "../harness/migrated.ts";
import { freePort, stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer } from "../harness/server.ts";

after(stopPostgres);

/** Lists groups on a server with this replica. Returns what the log and the metrics have about the replica. */
async function listWith(replicaOf: (databaseUrl: string) => string | Promise<string>) {
  const lines: string[] = [];
  const log = new Writable({ write: (line, _encoding, done) => done(void lines.push(String(line))) });
  const databaseUrl = await newMigratedDatabase();
  const settings = { databaseUrl, databaseReplicaUrl: await replicaOf(databaseUrl) };
  await using server = await startTestServer({ settings, log });
  for (const pageSize of [1, 2, 3]) {
    const reply = await rest(server.url, server.ownerToken, "GET", `/iam/v2beta1/groups?page_size=${pageSize}`);
    assert.deepEqual([reply.status, reply.body.groups.length], [200, 1]);
  }
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  const counted = metrics.matchAll(/^gatehouse_replica_(?:reads|fallbacks)_total(?:\{reason="(\w+)"\})? ([1-9]\d*)$/gm);
  return {
    counted: [...counted].map(([, reason, count]) => `${reason} ${count}`),
    events: lines
      .map((line) => JSON.parse(line))
      .filter(({ event }) => /^database_replica/.test(event))
      .map(({ event, reason, message }) => [event, reason, message]),
  };
}

describe("PostgreSQL: a replica that cannot be used", () => {
  it("is reported once if it accepts writes, and the primary answers", async () => {
    assert.deepEqual(await listWith((databaseUrl) => databaseUrl), {
      counted: ["not_standby 3"],
      events: [["database_replica_unused", "not_standby", "the server is not a standby"]],
    });
  });

  it("is reported once if it cannot be reached, and the primary answers", async () => {
    const port = await freePort();
    assert.deepEqual(await listWith(() => `postgres://u:secret@127.0.0.1:${port}/gatehouse`), {
      counted: ["unavailable 3"],
      events: [["database_replica_unused", "unavailable", `connect ECONNREFUSED 127.0.0.1:${port}`]],
    });
  });
});
