// Creates with idempotency keys while the server is killed again and again, and on several servers at once: each makes one resource.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type RawReply, sendRaw } from "../../api/raw-rest.ts";
import { databases } from "../../harness/databases.ts";
import { newMigratedDatabase } from "../../harness/migrated.ts";
import { freePort, stopPostgres } from "../../harness/postgres.ts";
import { rest } from "../../harness/rest.ts";
import { startEmptyServer, startTestServer, type TestServer } from "../../harness/server.ts";
import { createInstallation } from "../../history/installation.ts";
import { dataDirectory, type Running, serveWith } from "../process.ts";

after(stopPostgres);

const clients = 6;
const kills = 10;
const creates = 60;

/** Creates a group with a key, and returns the reply. Rejects if there is none. */
function createGroup(url: string, token: string, parent: string, key: string, name: string): Promise<RawReply> {
  return sendRaw(url, "POST", `/iam/v2beta1/groups/${parent}`, {
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify({ name }),
  });
}

/** Returns how many groups there are by name. */
async function countsByName(url: string, token: string, parent: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (let pageToken = ""; ; ) {
    const query = new URLSearchParams({ "uidp.children_of": parent, page_size: "200", page_token: pageToken });
    const { body } = await rest(url, token, "GET", `/iam/v2beta1/groups?${query}`);
    for (const { name } of body.groups ?? []) counts.set(name, (counts.get(name) ?? 0) + 1);
    pageToken = body.nextPageToken ?? "";
    if (pageToken === "") return counts;
  }
}

for (const database of databases)
  describe(`creates with idempotency keys while the server is killed ${kills} times, ${database}`, () => {
    const opened = new AsyncDisposableStack();
    after(() => opened.disposeAsync());
    let settings: Record<string, string>;
    let installation: Awaited<ReturnType<typeof createInstallation>>;
    let server: Running;
    before(async () => {
      const listen = `127.0.0.1:${await freePort()}`;
      const databaseUrl = database === "postgres" ? await newMigratedDatabase() : "";
      const dataDir = opened.use(dataDirectory()).path;
      settings = { dataDir, listen, baseUrl: `http://${listen}`, eventDelivery: "off", logLevel: "warn" };
      if (databaseUrl !== "") settings.databaseUrl = databaseUrl;
      installation = await createInstallation(settings);
      server = await serve();
    });

    async function serve(): Promise<Running> {
      const running = await serveWith(settings);
      opened.defer(() => void running.child.kill("SIGKILL"));
      return running;
    }

    it("each create makes one group, however often it is repeated, and a repetition has the response that was received", async () => {
      const { ownerToken: token, folders } = installation;
      const parent = folders[0]!;
      const url = settings.baseUrl!;
      const received = new Map<string, string>();
      const keys = new Map(Array.from({ length: creates }, (_, i) => [`made-${i}`, randomUUID()]));
      const waiting = [...keys.keys()];
      let repetitions = 0;

      async function createOnce(name: string): Promise<void> {
        for (;;) {
          const reply = await createGroup(url, token, parent, keys.get(name)!, name).catch(() => undefined);
          if (reply?.status === 200) return void received.set(name, reply.text);
          // IDEMPOTENCY_KEY_IN_USE, a server that stops, or none.
          assert.ok(reply === undefined || reply.status === 409 || reply.status >= 500, reply?.text ?? "");
          repetitions++;
          await pause(20);
        }
      }

      async function work(): Promise<void> {
        for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await createOnce(name);
      }

      let isDone = false;
      const working = Promise.all(Array.from({ length: clients }, work)).then(() => {
        isDone = true;
      });
      for (let kill = 0; kill < kills && !isDone; kill++) {
        await pause(20 + Math.random() * 60);
        server.child.kill("SIGKILL");
        await server.finished;
        server = await serve();
      }
      await working;
      assert.ok(repetitions > 0);
      const counts = await countsByName(url, token, parent);
      for (const [name, key] of keys) {
        assert.equal(counts.get(name), 1, name);
        assert.equal((await createGroup(url, token, parent, key, name)).text, received.get(name));
      }
    });
  });

describe("calls with one idempotency key at three servers at once, postgres", () => {
  it("one of them makes the group, and the others have its response or are told to repeat", async () => {
    await using opened = new AsyncDisposableStack();
    const databaseUrl = await newMigratedDatabase();
    const first: TestServer = opened.use(await startTestServer({ settings: { databaseUrl } }));
    const { baseUrl, dataDir } = first.config;
    const others = [1, 2].map(() => startEmptyServer({ settings: { databaseUrl, baseUrl, dataDir } }));
    const servers = [first, ...(await Promise.all(others)).map((server) => opened.use(server))];
    const { ownerToken: token, groupUid: parent } = first;
    for (let round = 0; round < 100; round++) {
      const key = randomUUID();
      const name = `round-${round}`;
      const replies = await Promise.all(
        [...servers, ...servers].map(({ url }) => createGroup(url, token, parent, key, name)),
      );
      const made = replies.filter(({ status }) => status === 200);
      assert.ok(made.length > 0);
      assert.equal(new Set(made.map(({ text }) => text)).size, 1);
      for (const reply of replies) assert.ok(reply.status === 200 || reply.status === 409, reply.text);
    }
    const counts = await countsByName(first.url, token, parent);
    assert.deepEqual(
      [...counts].filter(([name, count]) => name.startsWith("round-") && count !== 1),
      [],
    );
  });
});
