// A token exchange without the name of an identity, which looks for one by what strangers have written, on both databases.
import assert from "node:assert/strict";
import { it } from "node:test";
import { databases } from "../harness/databases.ts";
import { startIdentityProvider } from "../harness/identity-provider.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { basic, getToken } from "../registry/sign-in.ts";
import { viewerRole } from "../security/tree.ts";
import { keyPair, signOutside, startIssuer } from "./outside.ts";

for (const database of databases) {
  it(`T11: texts that databases cannot store select no identity, ${database}`, async () => {
    await using server = await startTestServer({ database });
    const { baseUrl: aud } = server.config;
    const exp = Math.floor(Date.now() / 1000) + 600;
    const strange = ["a\0b", "a\ud800"];
    const table = strange.flatMap((text) => [
      { iss: text, sub: "workload" },
      { iss: "https://issuer.example", sub: text },
    ]);
    for (const claims of table) {
      const token = await signOutside(keyPair("ES256"), { ...claims, aud, exp });
      const { status, body } = await rest(
        server.url,
        token,
        "GET",
        `/sts/exchange?aud=${encodeURIComponent(aud)}&scope=${server.groupUid}`,
      );
      assert.equal(status, 403, JSON.stringify(claims));
      assert.match(body.message, /no identity in the group accepts the subject token/);
    }
  });

  it(`a stranger's identities with the issuer and subject of a workload change nothing for it, ${database}`, async () => {
    await using server = await startTestServer({ database });
    await using provider = await startIdentityProvider(["ci"]);
    const token = await provider.issueToken("ci", server.url);
    const claimMatch = { issuer: provider.issuer, subject: "ci" };
    const own = await createBound(server, { name: "ci", claimMatch });
    const { body: stranger } = await rest(server.url, server.ownerToken, "POST", "/iam/v2beta1/groups", {
      name: "stranger.example",
    });
    const ask = async () => {
      const query = `aud=${encodeURIComponent(server.config.baseUrl)}&scope=${server.groupUid}`;
      const exchanged = await rest(server.url, token, "GET", `/sts/exchange?${query}`);
      const registry = await getToken(server.url, basic(server.groupUid, token), []);
      return [exchanged.status, JSON.parse(atob(exchanged.body.token.split(".")[1])).sub, registry.status];
    };
    assert.deepEqual(await ask(), [200, own, 200]);
    const uids: string[] = [];
    for (let i = 0; i < 30; i++) {
      const path = `/iam/v2beta1/identities/${stranger.uid}`;
      const { status, body } = await rest(server.url, server.ownerToken, "POST", path, { name: `s${i}`, claimMatch });
      assert.equal(status, 200, JSON.stringify(body));
      uids.push(body.uid);
      if (i % 10 === 9) assert.deepEqual(await ask(), [200, own, 200]);
    }
    for (const uid of uids) await rest(server.url, server.ownerToken, "DELETE", `/iam/v2beta1/identities/${uid}`);
    assert.deepEqual(await ask(), [200, own, 200]);
  });
}

for (const database of databases) {
  it(`the last use of an identity is written once a minute, ${database}`, async () => {
    let now = Date.now();
    await using server = await startTestServer({ database, clock: () => now });
    const key = keyPair("ES256");
    await using issuer = await startIssuer(key);
    const uid = await createBound(server, { name: "ci", claimMatch: { issuer: issuer.url, subject: "ci" } });
    const use = async () => {
      const exp = Math.floor(now / 1000) + 600;
      const token = await signOutside(key, { iss: issuer.url, sub: "ci", aud: server.config.baseUrl, exp });
      const query = new URLSearchParams({ aud: server.config.baseUrl, identity: uid });
      assert.equal((await rest(server.url, token, "GET", `/sts/exchange?${query}`)).status, 200);
      const { body } = await rest(server.url, server.ownerToken, "GET", `/iam/v2beta1/identities/${uid}`);
      return Date.parse(body.lastSeenTime);
    };
    now += 1_000;
    const first = await use();
    assert.equal(first, now);
    now += 59_999;
    assert.equal(await use(), first);
    now += 1;
    assert.equal(await use(), now);
  });
}

/** Creates an identity with the role viewer in the organization of a server, and returns its uid. */
async function createBound(server: TestServer, identity: object): Promise<string> {
  const { body } = await rest(
    server.url,
    server.ownerToken,
    "POST",
    `/iam/v2beta1/identities/${server.groupUid}`,
    identity,
  );
  const binding = { identityUid: body.uid, roleUid: viewerRole.uid };
  await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/roleBindings/${server.groupUid}`, binding);
  return body.uid;
}
