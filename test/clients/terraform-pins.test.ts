// What the Terraform provider reads of an identity stays the same when names are pinned, refused, and tokens are stored.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { untilTrue } from "../harness/until.ts";
import { forgeToken, gitHub, gitHubJob, startForges } from "../sts/forges.ts";

let forges: Awaited<ReturnType<typeof startForges>>;
let server: TestServer;

/** Returns the bytes of the calls of the provider, without the time of the last exchange. */
async function readAll(uid: string): Promise<string[]> {
  const paths = [
    `/iam/v2beta1/identities/${uid}`,
    `/iam/v2beta1/identities?uidp.ids=${uid}`,
    `/iam/v1/identities?id=${uid}`,
  ];
  const texts: string[] = [];
  for (const path of paths) {
    const response = await fetch(server.url + path, { headers: { authorization: `Bearer ${server.ownerToken}` } });
    const text = await response.text();
    assert.equal(response.status, 200, `${path}: ${text}`);
    assert.ok(text.includes(uid), `${path}: ${text}`);
    texts.push(text.replace(/"(lastSeenTime|lastSeen)": ?"[^"]*"/g, '"$1":""'));
  }
  return texts;
}

describe("Terraform and pinned names", () => {
  before(async () => {
    forges = await startForges();
    server = await startTestServer({ settings: forges.settings });
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await forges[Symbol.asyncDispose]();
  });

  it("the provider reads the same bytes of an identity before and after names were pinned and refused, and tokens stored", async () => {
    const call = (method: string, path: string, body?: object) =>
      rest(server.url, server.ownerToken, method, path, body);
    const identity = { name: "ci", claimMatch: { issuer: gitHub, subject: "repo:acme/app:ref:refs/heads/main" } };
    const { uid } = (await call("POST", `/iam/v2beta1/identities/${server.groupUid}`, identity)).body;
    const unused = await readAll(uid);

    const aud = server.config.baseUrl;
    const query = new URLSearchParams({ aud, identity: uid });
    for (const [repositoryId, status] of [
      ["74", 200],
      ["888", 403],
    ] as const) {
      const token = await forgeToken(aud, gitHubJob("acme", "app", ["12", repositoryId]));
      assert.equal((await rest(server.url, token, "GET", `/sts/exchange?${query}`)).status, status);
    }
    const trust = (await call("GET", `/gatehouse/iam/v1/trust/${uid}`)).body;
    assert.deepEqual([trust.pinnedNames.length, trust.refusedNames.length], [2, 1]);
    await untilTrue(
      async () => (await call("GET", `/gatehouse/iam/v1/trust/${uid}:listSeenTokens`)).body.seenTokens?.length === 2,
    );
    assert.deepEqual(await readAll(uid), unused);
  });
});
