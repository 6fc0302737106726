// Lists that a replica may answer. test/storage/end-to-end/replica.ts has more about standbys that fail.
import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { after, describe, it } from "node:test";
import pg from "pg";
import { newMigratedDatabase } from "../harness/migrated.ts";
import { freePort, startOwnPostgres, stopPostgres } from "../harness/postgres.ts";
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

describe("PostgreSQL: a streaming standby", () => {
  it("answers lists while it has every change, and the primary does while it has not", async () => {
    await using postgres = await startOwnPostgres();
    const standby = new pg.Client(postgres.standbyUrl);
    const settings = { databaseUrl: postgres.url, databaseReplicaUrl: postgres.standbyUrl };
    await using server = await startTestServer({ settings });
    const { url, ownerToken, groupUid } = server;
    let lists = 0;
    /** Lists groups, in a page that is not cached. Returns how many there are, and how many lists the standby answered. */
    async function list() {
      const path = `/iam/v2beta1/groups?page_size=${1 + (lists % 200)}&skip=${Math.floor(lists++ / 200)}`;
      const { body } = await rest(url, ownerToken, "GET", path);
      return [body.totalCount, server.server.database.replicas!.reads];
    }
    const create = (name: string) => rest(url, ownerToken, "POST", `/iam/v2beta1/groups/${groupUid}`, { name });
    // The standby may still be replaying the start of the server.
    while (server.server.database.replicas!.reads === 0) await list();
    await standby.connect();
    await standby.query("SELECT pg_wal_replay_pause()");
    const { reads } = server.server.database.replicas!;
    await create("one");
    assert.deepEqual(await list(), ["2", reads]);
    assert.ok(server.server.database.replicas!.fallbacks.behind! > 0);
    await standby.query("SELECT pg_wal_replay_resume()");
    await standby.end();
    while (server.server.database.replicas!.reads === reads) assert.equal((await list())[0], "2");
  });
});

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
