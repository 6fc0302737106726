// AIP-158: page tokens end after three days without an error, and cannot be made or changed by callers.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type RestReply, rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { dayMs, testClock } from "./fixtures.ts";

const clock = testClock();
let server: TestServer;

/** Lists the groups below the root one by one; the token of the call is fresh, however far the clock has gone. */
async function list(pageToken = "", from = server): Promise<RestReply> {
  const query = new URLSearchParams({ "uidp.children_of": from.groupUid, order_by: "name", page_size: "1" });
  if (pageToken !== "") query.set("page_token", pageToken);
  return await rest(from.url, await from.tokenOf(from.ownerUid), "GET", `/iam/v2beta1/groups?${query}`);
}

const nameOf = ({ body }: RestReply) => body.groups[0].name;
const isExpired = ({ headers }: RestReply) => headers.get("x-page-token-expired");

describe("page tokens", () => {
  before(async () => {
    server = await startTestServer({ clock: clock.read });
    for (const name of ["a", "b", "c"]) {
      await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/groups/${server.groupUid}`, { name });
    }
  });
  after(() => server[Symbol.asyncDispose]());

  it("go on within three days, and restart the list after them", async () => {
    const { nextPageToken } = (await list()).body;
    clock.advance(3 * dayMs - 1);
    const inTime = await list(nextPageToken);
    assert.deepEqual([nameOf(inTime), isExpired(inTime)], ["b", null]);
    clock.advance(1);
    const tooLate = await list(nextPageToken);
    assert.deepEqual([tooLate.status, nameOf(tooLate), isExpired(tooLate)], [200, "a", "true"]);
    const renewed = await list(tooLate.body.nextPageToken);
    assert.deepEqual([nameOf(renewed), isExpired(renewed)], ["b", null]);
  });

  it("an expired token of another query is refused all the same", async () => {
    const { nextPageToken } = (await list()).body;
    clock.advance(4 * dayMs);
    const token = await server.tokenOf(server.ownerUid);
    const reply = await rest(server.url, token, "GET", `/iam/v2beta1/groups?page_token=${nextPageToken}`);
    assert.deepEqual([reply.status, reply.body.details[1].fieldViolations[0].field], [400, "page_token"]);
  });

  it("are refused with any character changed, cut or added", async () => {
    const { nextPageToken } = (await list()).body;
    const changed = (i: number) =>
      nextPageToken.slice(0, i) + (nextPageToken[i] === "A" ? "B" : "A") + nextPageToken.slice(i + 1);
    const places = Array.from({ length: nextPageToken.length }, (_, i) => i).filter((i) => i % 7 === 0);
    const tampered = [...places.map(changed), nextPageToken.slice(0, -1), nextPageToken.slice(1), `${nextPageToken}A`];
    for (const text of tampered) {
      const { status, body } = await list(text);
      assert.deepEqual([status, body.code], [400, 3], text);
    }
  });

  it("of another installation are refused", async () => {
    await using other = await startTestServer();
    for (const name of ["a", "b"]) {
      await rest(other.url, other.ownerToken, "POST", `/iam/v2beta1/groups/${other.groupUid}`, { name });
    }
    const { nextPageToken } = (await list("", other)).body;
    assert.equal((await list(nextPageToken, other)).status, 200);
    assert.equal((await list(nextPageToken)).status, 400);
  });
});
