// Which algorithm signs what others verify: receivers of events, and services with an audience of their own, may know RS256 alone.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import type { TestServer } from "../harness/server.ts";
import { keyPair, signOutside, startIssuer } from "../sts/outside.ts";
import { openSink, type Sink, startSendingServer } from "./sink.ts";

after(stopPostgres);

const otherAudience = "https://orders.example";

for (const database of databases) {
  // The database has the one key that a release before 0.6.0 made; the server adds its own.
  describe(`tokens that others verify, on ${database}`, () => {
    const key = keyPair("ES256");
    let server: TestServer;
    let issuer: Awaited<ReturnType<typeof startIssuer>>;
    let sink: Sink;
    let identity: string;
    before(async () => {
      issuer = await startIssuer(key);
      sink = await openSink();
      server = await startSendingServer({ database, settings: { audiences: otherAudience } });
      await call("POST", `/events/v2beta1/subscriptions/${server.groupUid}`, { sink: sink.url });
      const claimMatch = { issuer: issuer.url, subject: "job" };
      identity = (await call("POST", `/iam/v2beta1/identities/${server.groupUid}`, { name: "job", claimMatch })).uid;
    });
    after(async () => {
      await server[Symbol.asyncDispose]();
      await sink[Symbol.asyncDispose]();
      await issuer[Symbol.asyncDispose]();
    });

    async function call(method: string, path: string, body?: object) {
      const { status, body: found } = await rest(server.url, server.ownerToken, method, path, body);
      assert.equal(status, 200, `${path}: ${JSON.stringify(found)}`);
      return found;
    }

    async function exchange(aud: string): Promise<string> {
      const exp = Math.floor(Date.now() / 1000) + 600;
      const token = await signOutside(key, { iss: issuer.url, sub: "job", aud: server.config.baseUrl, exp });
      const query = new URLSearchParams({ aud, identity });
      const { status, body } = await rest(server.url, token, "GET", `/sts/exchange?${query}`);
      assert.equal(status, 200, JSON.stringify(body));
      return body.token;
    }

    /** Makes an event, and returns the token that came with it. */
    async function eventToken(name: string): Promise<string> {
      await call("POST", `/iam/v2beta1/groups/${server.groupUid}`, { name });
      const isOfGroup = ({ body }: { body: string }) => body.includes(`"${name}"`);
      const [received] = await sink.wait(1, isOfGroup);
      return received!.headers.authorization!.replace("Bearer ", "");
    }

    /** Checks the algorithms of all tokens, and that the published keys verify those for others. */
    async function check(name: string): Promise<void> {
      const { jwks_uri: keys } = await call("GET", "/.well-known/openid-configuration");
      const keySet = createRemoteJWKSet(new URL(keys));
      const tokens = { event: await eventToken(name), audience: await exchange(otherAudience) };
      for (const [what, token] of Object.entries(tokens)) {
        assert.equal(decodeProtectedHeader(token).alg, "RS256", what);
        await jwtVerify(token, keySet, { algorithms: ["RS256"] });
      }
      assert.equal(decodeProtectedHeader(await exchange(server.config.baseUrl)).alg, "ES256");
    }

    it("events and tokens of --audiences have RS256, and tokens for the API ES256, also after the keys were rotated", async () => {
      await check("first");
      await call("POST", "/gatehouse/operate/v1/signingKeys:rotate", {});
      await check("second");
    });
  });
}
