// SQLite files that are removed while a server uses them.
import assert from "node:assert/strict";
import { copyFileSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { rest } from "../../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../../harness/server.ts";

const reason =
  "not ready to write, reads are served: the database file was deleted, moved or replaced while the server had it open\n";

const losses: readonly { readonly name: string; readonly lose: (file: string) => void }[] = [
  { name: "the file is deleted", lose: (file) => rmSync(file) },
  { name: "the write-ahead log is deleted", lose: (file) => rmSync(`${file}-wal`) },
  { name: "the index of the log is deleted", lose: (file) => rmSync(`${file}-shm`) },
  { name: "all of them are deleted", lose: (file) => ["", "-wal", "-shm"].map((suffix) => rmSync(file + suffix)) },
  {
    name: "the file is replaced by a copy",
    lose(file) {
      copyFileSync(file, `${file}.copy`);
      renameSync(`${file}.copy`, file);
    },
  },
  { name: "the directory is deleted", lose: (file) => rmSync(path.dirname(file), { recursive: true }) },
];

let written = 0;

async function statuses({ url, ownerToken, groupUid }: TestServer) {
  const group = `/iam/v2beta1/groups/${groupUid}`;
  const name = `group-${written++}`;
  const write = (await rest(url, ownerToken, "POST", group, { name })).status;
  const read = (await rest(url, ownerToken, "GET", group)).status;
  const list = await rest(url, ownerToken, "GET", `/iam/v2beta1/groups?uidp.childrenOf=${groupUid}&name=${name}`);
  // Rejected writes are not visible either.
  assert.equal(list.body.groups.length, write === 200 ? 1 : 0);
  const ready = await fetch(`${url}/readyz`);
  return { write, read, ready: [ready.status, await ready.text()] };
}

describe("a server whose database files are lost", () => {
  for (const { name, lose } of losses) {
    it(`a server without its database files acknowledges no write, and says why it is not ready: ${name}`, async () => {
      await using server = await startTestServer();
      assert.deepEqual(await statuses(server), { write: 200, read: 200, ready: [200, "ready\n"] });
      lose(server.config.databaseUrl);
      for (let i = 0; i < 3; i++)
        assert.deepEqual(await statuses(server), { write: 503, read: 200, ready: [503, reason] });
    });
  }

  it("is ready again after a moved directory is moved back", async () => {
    await using server = await startTestServer();
    const directory = path.dirname(server.config.databaseUrl);
    renameSync(directory, `${directory}-moved`);
    assert.deepEqual(await statuses(server), { write: 503, read: 200, ready: [503, reason] });
    renameSync(`${directory}-moved`, directory);
    assert.deepEqual(await statuses(server), { write: 200, read: 200, ready: [200, "ready\n"] });
  });

  it("detects it for writes of one batch", async () => {
    await using server = await startTestServer();
    const { url, ownerToken, groupUid } = server;
    rmSync(server.config.databaseUrl);
    const write = async (_: unknown, i: number) =>
      (await rest(url, ownerToken, "POST", `/iam/v2beta1/groups/${groupUid}`, { name: `g${i}` })).status;
    assert.deepEqual([...new Set(await Promise.all(Array.from({ length: 50 }, write)))], [503]);
  });
});
