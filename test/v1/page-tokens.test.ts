// AIP-158 holds for the lists of version 1 that have pages: a page token that is too old restarts the list, and a header says so.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { dayMs, testClock } from "../services/fixtures.ts";
import { addAdvisory } from "../services/vulnerabilities/search-fixtures.ts";
import { write } from "../storage/fixtures.ts";

const clock = testClock();
let server: TestServer;

describe("page tokens of version 1", () => {
  before(async () => {
    server = await startTestServer({ clock: clock.read });
    await write(server.server.database, async (tx) => {
      for (const artifactName of ["a", "b"]) await addAdvisory(tx, server.groupUid, { artifactName });
    });
  });
  after(() => server[Symbol.asyncDispose]());

  async function list(pageToken: string) {
    const query = new URLSearchParams({ "uidp.children_of": server.groupUid, page_size: "1", page_token: pageToken });
    const token = await server.tokenOf(server.ownerUid);
    return await rest(server.url, token, "GET", `/vulnerabilities/v1/advisories?${query}`);
  }

  it("an expired page token restarts a list of version 1, and a header says so", async () => {
    const first = await list("");
    clock.advance(4 * dayMs);
    const again = await list(first.body.nextPageToken);
    assert.equal(again.status, 200, again.body.message);
    assert.deepEqual(again.body.items, first.body.items);
    assert.equal(again.headers.get("x-page-token-expired"), "true");
  });
});
