// The connection test of an identity provider, against a provider of the real make.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import { freePort } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { type RealProvider, startRealProvider } from "./real-provider.ts";

const viewer = builtInRoles.find(({ name }) => name === "viewer")!.uid;

interface Tested {
  readonly status: number;
  readonly body: {
    readonly passed?: boolean;
    readonly redirectUri: string;
    readonly checks: readonly { readonly name: string; readonly outcome: string; readonly detail: string }[];
  };
}

describe("the connection test of an identity provider", () => {
  let server: TestServer;
  let provider: RealProvider;
  before(async () => {
    server = await startTestServer();
    provider = await startRealProvider({ sendsIssuer: true });
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
  });

  async function create(name: string, issuer: string, clientSecret: string): Promise<string> {
    const oidc = { issuer, clientId: "gatehouse", clientSecret, additionalScopes: ["email"] };
    const path = `/iam/v2beta1/identityProviders/${server.groupUid}`;
    const created = await rest(server.url, server.ownerToken, "POST", path, { name, oidc, defaultRole: viewer });
    assert.equal(created.status, 200, JSON.stringify(created.body));
    return created.body.uid;
  }

  const test = (uid: string, token = server.ownerToken): Promise<Tested> =>
    rest(server.url, token, "POST", `/gatehouse/iam/v1/identityProviders/${uid}:test`, {});

  const outcomes = ({ body }: Tested) =>
    body.checks.map(({ name, outcome }) => `${name} ${outcome.replace("PROVIDER_CHECK_OUTCOME_", "")}`);

  it("passes with the right client, and says what to register", async () => {
    const uid = await create("right", provider.issuer, "the secret of this client");
    const redirectUri = `${server.config.baseUrl}/oauth/callback/${uid}`;
    provider.register({
      clientId: "gatehouse",
      clientSecret: "the secret of this client",
      redirectUris: [redirectUri],
    });
    const tested = await test(uid);
    assert.deepEqual(outcomes(tested), ["discovery PASSED", "keys PASSED", "client PASSED"]);
    assert.equal(tested.body.passed, true);
    assert.equal(tested.body.redirectUri, redirectUri);
  });

  it("reports a wrong secret, without repeating it", async () => {
    const uid = await create("wrong", provider.issuer, "another secret than that");
    const tested = await test(uid);
    assert.deepEqual(outcomes(tested), ["discovery PASSED", "keys PASSED", "client FAILED"]);
    assert.equal(tested.body.passed ?? false, false);
    assert.doesNotMatch(JSON.stringify(tested.body), /another secret/);
  });

  it("reports a client that may not use authorization codes", async () => {
    const uid = await create("machine", provider.issuer, "secret");
    provider.intercept = (request, response) => {
      if (!request.url?.startsWith("/token")) return false;
      response.writeHead(400, { "content-type": "application/json" }).end('{"error":"unauthorized_client"}');
      return true;
    };
    const tested = await test(uid);
    provider.intercept = () => false;
    assert.deepEqual(outcomes(tested), ["discovery PASSED", "keys PASSED", "client FAILED"]);
    assert.match(tested.body.checks[2]!.detail, /rejects client id or secret \(unauthorized_client\)/);
  });

  it("reports an unresponsive issuer and a private address in the same words", async () => {
    const silent = await create("silent", `http://127.0.0.1:${await freePort()}`, "secret");
    assert.deepEqual(outcomes(await test(silent)), ["discovery FAILED", "keys SKIPPED", "client SKIPPED"]);
    const hidden = await create("hidden", "https://10.0.0.1", "secret");
    const tested = await test(hidden);
    assert.deepEqual(outcomes(tested), ["discovery FAILED", "keys SKIPPED", "client SKIPPED"]);
    assert.match(tested.body.checks[0]!.detail, /not public/);
  });

  it("needs the right to change the provider, and runs once a second", async () => {
    const uid = await create("limited", provider.issuer, "secret");
    const reader = await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/identities/${server.groupUid}`, {
      name: "reader",
      claimMatch: { issuer: "https://issuer.example.org", subject: "reader" },
    });
    const bound = { identityUid: reader.body.uid, roleUid: viewer };
    await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/roleBindings/${server.groupUid}`, bound);
    assert.equal((await test(uid, await server.tokenOf(reader.body.uid))).status, 403);
    assert.equal((await test(`${server.groupUid}/0123456789abcdef`)).status, 404);
    // The limit counts whole seconds: begin with a new one.
    await setTimeout(1010 - (Date.now() % 1000));
    assert.equal((await test(uid)).status, 200);
    assert.equal((await test(uid)).status, 429);
  });
});
