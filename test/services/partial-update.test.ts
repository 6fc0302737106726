import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";

describe("an update of a part inside a field", () => {
  let server: TestServer;
  let path: string;
  const keys = { issuer: "i", subject: "s", issuerKeys: "keys" };

  before(async () => {
    server = await startTestServer();
    const made = await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/identities/${server.groupUid}`, {
      name: "ci",
      staticKeys: keys,
    });
    path = `/iam/v2beta1/identities/${made.body.uid}`;
  });
  after(() => server[Symbol.asyncDispose]());

  it("changes that part and requires no other", async () => {
    const { status, body } = await rest(server.url, server.ownerToken, "PATCH", path, { staticKeys: { subject: "t" } });
    assert.equal(status, 200);
    assert.deepEqual(body.staticKeys, { ...keys, subject: "t", audiences: [] });
  });

  it("is rejected if the part must not be empty, and changes nothing", async () => {
    const { status, body } = await rest(server.url, server.ownerToken, "PATCH", path, { staticKeys: { issuer: "" } });
    assert.deepEqual([status, body.message], [400, "Invalid argument: static_keys.issuer: is required"]);
    const stored = await rest(server.url, server.ownerToken, "GET", path);
    assert.equal(stored.body.staticKeys.issuer, "i");
  });
});
