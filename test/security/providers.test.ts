// Categories L, C and J for identity providers: secrets go in and stay in, and nobody is asked without need.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { decryptClientSecret } from "../../src/services/iam/identity-providers/client-secret.ts";
import { digestScimToken } from "../../src/services/iam/identity-providers/scim-state.ts";
import { collections } from "../../src/services/resources.ts";
import { readChanges } from "../../src/storage/change-log/change-log.ts";
import { checkDatabase } from "../../src/storage/check/check-database.ts";
import { findRow } from "../../src/storage/collection/rows.ts";
import { identityProviderCollection } from "../../src/storage/iam/collections.ts";
import type { IdentityProviderRow } from "../../src/storage/iam/provider-rows.ts";
import { databases } from "../harness/databases.ts";
import { keptLog } from "../harness/kept-log.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { discoveryPath, startIssuer } from "../sts/outside.ts";
import { codeOf, type Ground, openGround, replyOf, turnableClock } from "./ground.ts";
import { addMapping } from "./provider-tree.ts";
import { viewerRole } from "./tree.ts";

const secret = "canary-71c0-client-secret";
const hourMs = 60 * 60 * 1000;

/** Returns a provider as a caller sends it. */
function provider(oidc: JsonObject = {}): JsonObject {
  const configured = { issuer: "https://idp.example.org", clientId: "gatehouse", clientSecret: secret, ...oidc };
  return { name: "provider", defaultRole: viewerRole.uid, oidc: configured };
}

async function createProvider(ground: Ground, oidc: JsonObject = {}): Promise<string> {
  const { groupUid, ownerToken } = ground.server;
  const request = { parent: groupUid, identityProvider: provider(oidc) };
  return String(replyOf(await ground.once(ownerToken, "IdentityProvidersService/CreateIdentityProvider", request)).uid);
}

async function rowOf(ground: Ground, uid: string): Promise<IdentityProviderRow> {
  return (await findRow(ground.server.server.database.session, identityProviderCollection, uid))!;
}

after(stopPostgres);

for (const database of databases) {
  describe(`secrets of identity providers on ${database}`, () => {
    it("L7: the client secret is in no response of any method", async () => {
      await using ground = await openGround({ database });
      const { groupUid, ownerToken } = ground.server;
      const uid = await createProvider(ground);
      const calls: readonly [method: string, request: JsonObject][] = [
        ["CreateIdentityProvider", { parent: groupUid, identityProvider: provider() }],
        ["GetIdentityProvider", { uid }],
        ["ListIdentityProviders", {}],
        ["UpdateIdentityProvider", { identityProvider: { uid, ...provider() }, updateMask: "*" }],
        ["GenerateScimToken", { identityProviderUid: uid }],
        ["RevokeScimToken", { identityProviderUid: uid }],
      ];
      for (const [method, request] of calls) {
        for (const apiClient of ground.apiClients) {
          const path = `/chainguard.platform.iam.v2beta1.IdentityProvidersService/${method}`;
          const outcome = await apiClient.call(ownerToken, path, request);
          assert.ok(outcome.code === 0 || method === "GenerateScimToken", `${method}: ${outcome.message}`);
          assert.ok(!JSON.stringify(outcome).includes(secret), `${method} over ${apiClient.name}`);
        }
      }
      assert.equal(decryptClientSecret(ground.server.server.encryption, await rowOf(ground, uid)), secret);
    });

    it("L1: no secret and no digest of one is in a row, a change or a log line", async () => {
      const log = keptLog();
      await using ground = await openGround({ database, log: log.stream });
      const { ownerToken } = ground.server;
      const uid = await createProvider(ground);
      const { token } = replyOf(
        await ground.once(ownerToken, "IdentityProvidersService/GenerateScimToken", { identityProviderUid: uid }),
      ) as { token: string };
      // A secret that is refused must not come back as what was wrong.
      const bad = { parent: ground.server.groupUid, identityProvider: provider({ clientSecret: `${secret}\n` }) };
      const refused = await ground.everywhere(ownerToken, "IdentityProvidersService/CreateIdentityProvider", bad);
      assert.equal(codeOf(refused), "INVALID_ARGUMENT");
      const row = await rowOf(ground, uid);
      assert.equal(row.scimTokenDigest, digestScimToken(token));
      const changes = await readChanges(ground.server.server.database.session, 0, 1000);
      assert.equal(changes.filter((change) => change.uid === uid).length, 2);
      const told = { row, changes, refused };
      for (const [place, text] of Object.entries(told)) {
        for (const hidden of [secret, token]) assert.ok(!JSON.stringify(text).includes(hidden), place);
      }
      for (const digest of [row.scimTokenDigest, row.clientSecret])
        assert.ok(!JSON.stringify(changes).includes(digest!), "the changes");
      log.assertNone(secret, token, digestScimToken(token));
    });

    it("C3: a SCIM token has 256 random bits, and differs each time", async () => {
      await using ground = await openGround({ database });
      const made = new Set<string>();
      for (let i = 0; i < 5; i++) {
        const uid = await createProvider(ground);
        const reply = replyOf(
          await ground.once(ground.server.ownerToken, "IdentityProvidersService/GenerateScimToken", {
            identityProviderUid: uid,
          }),
        );
        assert.match(String(reply.token), /^cgscim_[0-9a-f]{64}$/);
        made.add(String(reply.token));
      }
      assert.equal(made.size, 5);
    });

    it("a token expires, and what it replaced ends with the overlap, and never later than it would have", async () => {
      const clock = turnableClock();
      await using ground = await openGround({ database, clock: clock.read });
      const token = await ground.server.tokenOf(ground.server.ownerUid);
      const uid = await createProvider(ground);
      const scim = async (fresh = token) => {
        const reply = replyOf(await ground.once(fresh, "IdentityProvidersService/GetIdentityProvider", { uid }));
        return reply.scim as JsonObject;
      };
      const call = (method: string, request: JsonObject) =>
        ground.once(token, `IdentityProvidersService/${method}`, { identityProviderUid: uid, ...request });
      const expiresAt = clock.read() + hourMs / 2;
      const first = replyOf(await call("GenerateScimToken", { expireTime: new Date(expiresAt).toISOString() }));
      const second = replyOf(await call("RegenerateScimToken", { etag: first.etag!, neverExpires: true }));
      assert.equal(Date.parse(String(second.previousTokenExpireTime)), expiresAt);
      assert.equal((await scim()).credentialState, "CREDENTIAL_STATE_ROTATING");
      clock.advance(hourMs / 2);
      assert.equal((await scim()).credentialState, "CREDENTIAL_STATE_LIVE");
      const soon = new Date(clock.read() + hourMs / 4).toISOString();
      const third = replyOf(await call("RegenerateScimToken", { etag: second.etag!, expireTime: soon, overlap: "0s" }));
      clock.advance(hourMs / 4);
      assert.equal((await scim()).credentialState, "CREDENTIAL_STATE_EXPIRED");
      const fourth = replyOf(await call("RegenerateScimToken", { etag: third.etag! }));
      assert.equal(fourth.previousTokenExpireTime, undefined);
      const year = Date.parse(String(fourth.expireTime)) - clock.read();
      assert.ok(Math.abs(year - 365 * 24 * hourMs) < hourMs, String(fourth.expireTime));
    });

    it("one of several concurrent replacements of a token with one etag succeeds", async () => {
      await using ground = await openGround({ database });
      const uid = await createProvider(ground);
      const call = (method: string, request: JsonObject) =>
        ground.once(ground.server.ownerToken, `IdentityProvidersService/${method}`, {
          identityProviderUid: uid,
          ...request,
        });
      const { etag } = replyOf(await call("GenerateScimToken", {}));
      const outcomes = await Promise.all(Array.from({ length: 8 }, () => call("RegenerateScimToken", { etag: etag! })));
      const codes = outcomes.map(codeOf).sort();
      assert.deepEqual(codes, [...Array.from({ length: 7 }, () => "ABORTED"), "OK"]);
    });

    it("Q1: a provider that is deleted while mappings are added leaves none behind", async () => {
      await using ground = await openGround({ database });
      const { ownerToken, groupUid } = ground.server;
      const uid = await createProvider(ground);
      const add = (externalGroupId: string) =>
        ground.once(ownerToken, "ExternalGroupRoleMappingsService/CreateExternalGroupRoleMapping", {
          parent: uid,
          externalGroupRoleMapping: { externalGroupId, roleUid: viewerRole.uid, scope: groupUid },
        });
      const adding = Array.from({ length: 10 }, (_, i) => add(String(i)));
      const deleted = await ground.once(ownerToken, "IdentityProvidersService/DeleteIdentityProvider", { uid });
      assert.equal(codeOf(deleted), "OK");
      for (const code of (await Promise.all(adding)).map(codeOf)) assert.match(code, /^(OK|NOT_FOUND)$/);
      const left = await ground.once(ownerToken, "ExternalGroupRoleMappingsService/ListExternalGroupRoleMappings", {});
      assert.equal(replyOf(left).totalCount, "0");
    });
  });
}

describe("the limits of a provider", () => {
  it("it has at most 1000 mappings, and they are deleted with it", async () => {
    await using ground = await openGround();
    const { ownerToken, groupUid } = ground.server;
    const uid = await createProvider(ground);
    await Promise.all(Array.from({ length: 1000 }, () => addMapping(ground.server, uid)));
    const request = {
      parent: uid,
      externalGroupRoleMapping: { externalGroupId: "one more", roleUid: viewerRole.uid, scope: groupUid },
    };
    const method = "ExternalGroupRoleMappingsService/CreateExternalGroupRoleMapping";
    const outcome = await ground.once(ownerToken, method, request);
    assert.deepEqual([codeOf(outcome), /1000 mappings/.test(outcome.message)], ["FAILED_PRECONDITION", true]);
    replyOf(await ground.once(ownerToken, "IdentityProvidersService/DeleteIdentityProvider", { uid }));
    const { findings } = await checkDatabase(ground.server.server.database.session, collections);
    assert.deepEqual(findings, []);
  });

  it("rejects a correlation rule outside the enum, which gRPC can carry", async () => {
    await using ground = await openGround();
    const { ownerToken, groupUid } = ground.server;
    const call = (method: string, request: JsonObject) =>
      ground.apiClients[0]!.call(
        ownerToken,
        `/chainguard.platform.iam.v2beta1.IdentityProvidersService/${method}IdentityProvider`,
        request,
      );
    const wrong = provider({ correlationRule: 7 });
    const { uid } = replyOf(await call("Create", { parent: groupUid, identityProvider: provider() })) as {
      uid: string;
    };
    const refusal = /^Invalid argument: oidc\.correlation_rule: "7" is not a value of \S+\.CorrelationRule$/;
    assert.match((await call("Create", { parent: groupUid, identityProvider: wrong })).message, refusal);
    const update = { identityProvider: { ...wrong, uid }, updateMask: "oidc" };
    assert.match((await call("Update", update)).message, refusal);
  });
});

describe("a production server without a key", () => {
  it("rejects a client secret, names the setting, and accepts a provider with PKCE", async () => {
    await using ground = await openGround({ settings: { dev: "false", baseUrl: "http://127.0.0.1" } });
    const { ownerToken, groupUid } = ground.server;
    const create = (identityProvider: JsonObject) =>
      ground.once(ownerToken, "IdentityProvidersService/CreateIdentityProvider", {
        parent: groupUid,
        identityProvider,
      });
    const refused = await create(provider());
    assert.equal(codeOf(refused), "FAILED_PRECONDITION");
    assert.match(refused.message, /secrets-key \(GATEHOUSE_SECRETS_KEY\)/);
    const made = replyOf(await create(provider({ clientSecret: "", pkceEnabled: true })));
    const later = { identityProvider: { uid: String(made.uid), oidc: { clientSecret: secret } } };
    const update = await ground.once(ownerToken, "IdentityProvidersService/UpdateIdentityProvider", {
      ...later,
      updateMask: "oidc.clientSecret",
    });
    assert.equal(codeOf(update), "FAILED_PRECONDITION");
  });

  it("a client secret is encrypted once there is a key", async () => {
    const settings = { dev: "false", baseUrl: "http://127.0.0.1", secretsKey: randomBytes(32).toString("base64") };
    await using ground = await openGround({ settings });
    const uid = await createProvider(ground);
    assert.match((await rowOf(ground, uid)).clientSecret!, /^gatehouse-sealed:1:/);
  });
});

describe("requests to an issuer", () => {
  it("no request is made when a provider is created or updated", async () => {
    await using issuer = await startIssuer();
    await using ground = await openGround();
    const uid = await createProvider(ground, { issuer: issuer.url, pkceEnabled: true });
    const identityProvider = { uid, name: "renamed", oidc: { clientId: "other", groupsClaim: "groups" } };
    const update = { identityProvider, updateMask: "name,oidc.clientId,oidc.groupsClaim" };
    replyOf(await ground.once(ground.server.ownerToken, "IdentityProvidersService/UpdateIdentityProvider", update));
    assert.deepEqual(issuer.requests, []);
  });

  const answers: readonly [what: string, methods: unknown, code: string][] = [
    ["knows S256", ["plain", "S256"], "OK"],
    ["says nothing of it", undefined, "OK"],
    ["knows something else only", ["plain"], "FAILED_PRECONDITION"],
    ["knows no method", [], "FAILED_PRECONDITION"],
    ["answers with nonsense", "S256", "OK"],
  ];
  for (const [what, methods, code] of answers) {
    it(`whether it does PKCE, when that is switched on: an issuer that ${what} is ${code}`, async () => {
      await using issuer = await startIssuer();
      issuer.answers[discoveryPath] = {
        issuer: issuer.url,
        jwks_uri: `${issuer.url}/keys`,
        code_challenge_methods_supported: methods,
      };
      await using ground = await openGround();
      const uid = await createProvider(ground, { issuer: issuer.url });
      const update = { identityProvider: { uid, oidc: { pkceEnabled: true } }, updateMask: "oidc.pkceEnabled" };
      const outcome = await ground.once(
        ground.server.ownerToken,
        "IdentityProvidersService/UpdateIdentityProvider",
        update,
      );
      assert.equal(codeOf(outcome), code, outcome.message);
      assert.deepEqual(issuer.requests, [discoveryPath]);
    });
  }

  it("a provider can be updated while its issuer does not respond, or its discovery document names another issuer", async () => {
    await using issuer = await startIssuer();
    issuer.answers[discoveryPath] = { issuer: "https://other.example.org", code_challenge_methods_supported: [] };
    await using ground = await openGround();
    const gone = await startIssuer();
    await gone[Symbol.asyncDispose]();
    for (const url of [issuer.url, gone.url]) {
      const uid = await createProvider(ground, { issuer: url });
      const update = { identityProvider: { uid, oidc: { pkceEnabled: true } }, updateMask: "oidc.pkceEnabled" };
      const outcome = await ground.once(
        ground.server.ownerToken,
        "IdentityProvidersService/UpdateIdentityProvider",
        update,
      );
      assert.equal(codeOf(outcome), "OK", outcome.message);
    }
  });

  it("no request is made for a caller who may not update the provider", async () => {
    await using issuer = await startIssuer();
    await using ground = await openGround();
    const uid = await createProvider(ground, { issuer: issuer.url });
    const update = { identityProvider: { uid, oidc: { pkceEnabled: true } }, updateMask: "oidc.pkceEnabled" };
    for (const token of [undefined, await ground.server.tokenOf(uid)]) {
      const outcome = await ground.once(token, "IdentityProvidersService/UpdateIdentityProvider", update);
      assert.equal(codeOf(outcome), "UNAUTHENTICATED");
    }
    assert.deepEqual(issuer.requests, []);
  });
});
