// People who delete their account and come back: they have the same uid, and nothing else of what they had.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { newBrowser, signInUrl } from "../harness/browser.ts";
import { databases } from "../harness/databases.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { client, loginSettings, startUpstream, type Upstream } from "../sign-in/openid-client.ts";
import { type TurnableClock, turnableClock } from "./ground.ts";
import { viewerRole } from "./tree.ts";

for (const database of databases) {
  describe(`a user who deletes their account and registers again, ${database}`, () => {
    let server: TestServer;
    let upstream: Upstream;
    let clock: TurnableClock;
    before(async () => {
      upstream = await startUpstream();
      clock = turnableClock();
      const settings = { ...loginSettings(upstream), registryService: "registry.example" };
      server = await startTestServer({ database, clock: clock.read, settings });
    });
    after(async () => {
      await server[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    });

    /** Signs a user in, by the operator's provider unless another one is named. */
    async function signIn(sub: string, parameters: Record<string, string> = {}): Promise<string> {
      // The budget of an address is counted by the second.
      clock.advance(1000);
      upstream.behaviour.claims = { sub };
      const browser = newBrowser();
      const url = new URL(signInUrl(server.url, parameters));
      if (parameters.idp_id) url.searchParams.delete("client_id");
      const begun = await browser.request(url.href);
      const end = await browser.request(upstream.authorize(new URL(begun.headers.get("location") ?? "")));
      const answers = new URL(end.headers.get("location") ?? assert.fail(end.text)).searchParams;
      return answers.get("token") ?? assert.fail(answers.toString());
    }

    const status = async (token: string, method: string, path: string) =>
      (await rest(server.url, token, method, path)).status;
    const remove = async (token: string, sub: string) =>
      assert.equal(await status(token, "DELETE", `/auth/v1/delete/${userUid(upstream.issuer, sub)}`), 200);
    const api = async (method: string, path: string, body?: object) =>
      (await rest(server.url, await server.tokenOf(server.ownerUid), method, `/iam/v2beta1/${path}`, body)).body;

    it("T15: a token of the deleted account stays invalid", async () => {
      const aud = "registry.example";
      const [former, forRegistry] = [await signIn("returning"), await signIn("returning", { audience: aud })];
      await remove(former, "returning");
      clock.advance(60_000);
      const present = await signIn("returning");
      const login = (token: string) =>
        fetch(`${server.url}/token?service=${aud}`, {
          headers: { authorization: `Basic ${Buffer.from(`_token:${token}`).toString("base64")}` },
        });
      assert.equal(await status(present, "GET", "/auth/v1/ok"), 200);
      assert.equal(await status(former, "GET", "/auth/v1/ok"), 401);
      assert.equal(await status(former, "GET", `/sts/exchange?aud=${server.config.baseUrl}`), 403);
      assert.equal((await login(forRegistry)).status, 401);
      assert.equal((await login(await signIn("returning", { audience: aud }))).status, 200);
    });

    it("a removed default role is not given again with the new account", async () => {
      const oidc = { issuer: upstream.issuer, clientId: client.id, clientSecret: client.secret };
      const provider = { name: "own", defaultRole: viewerRole.uid, oidc };
      const { uid: idp } = await api("POST", `identityProviders/${server.groupUid}`, provider);
      const seen = async (token: string) => await status(token, "GET", `/iam/v2beta1/groups/${server.groupUid}`);

      const first = await signIn("expelled", { idp_id: idp });
      assert.equal(await seen(first), 200);
      const { roleBindings } = await api("GET", `roleBindings?identity=${userUid(upstream.issuer, "expelled")}`);
      await api("DELETE", `roleBindings/${roleBindings[0].uid}`);
      await remove(first, "expelled");
      assert.equal(await seen(await signIn("expelled", { idp_id: idp })), 403);
    });

    it("a user who had the default role until the removal gets it again", async () => {
      const { identityProviders } = await api("GET", "identityProviders");
      const idp = identityProviders[0].uid;
      await remove(await signIn("restless", { idp_id: idp }), "restless");
      const again = await signIn("restless", { idp_id: idp });
      assert.equal(await status(again, "GET", `/iam/v2beta1/groups/${server.groupUid}`), 200);
    });
  });
}
