import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Code } from "../../src/aip/errors.ts";
import type { TokenRequest } from "../../src/authn/token-claims.ts";
import { issuer, startSeconds, withClaims } from "../authn/token-fixtures.ts";
import {
  audiences,
  capabilities,
  openExchange,
  outcome,
  outsideIssuer,
  staticKeys,
  uid,
  workload,
} from "./exchange-fixtures.ts";

const identity = uid("org/id");
const [group, inner] = [uid("org"), uid("org/inner")];
const act = { iss: outsideIssuer, sub: "workload", aud: issuer };

/** Returns an exchange, and one of our own tokens for its identity. */
async function open(changes: Partial<TokenRequest> = {}) {
  const exchange = await openExchange();
  exchange.add("org/id", workload);
  exchange.bound.set(identity, new Map([[group, capabilities("groups.list", "groups.create")]]));
  const request = { subject: identity, audience: [issuer], act, grants: {}, narrowing: {}, ...changes };
  const { token } = await exchange.node.tokens.issue(request);
  return { ...exchange, own: token };
}

describe("one of our own tokens", () => {
  it("one of our own tokens is exchanged for another of the same identity, with the same claims about the original sign-in", async () => {
    const exchange = await open({ email: "a@good.com", emailVerified: true });
    for (const request of [{}, { identity }]) {
      const { token } = await exchange.run(request, exchange.own);
      const verified = await exchange.node.tokens.verify(token);
      assert.deepEqual([verified.subject, verified.act], [identity, act]);
      assert.deepEqual([verified.email, verified.emailVerified], ["a@good.com", true]);
    }
    assert.deepEqual(exchange.outside.requests, []);
  });

  it("X3: an exchange does not prolong one of our own tokens", async () => {
    const exchange = await open();
    exchange.clock.advance(3000_000);
    const { token, expiry } = await exchange.run({}, exchange.own);
    assert.equal(expiry?.seconds, BigInt(startSeconds + 3600));
    assert.equal((await exchange.node.tokens.verify(token)).expiresAt, (startSeconds + 3600) * 1000);
  });

  it("X3: an exchange does not prolong one of our own tokens, even if the static keys of its identity last longer", async () => {
    const exchange = await open();
    exchange.add(
      "org/id",
      staticKeys("keys", { expirationTime: { seconds: BigInt(startSeconds + 86_400), nanos: 0 } }),
    );
    exchange.clock.advance(3000_000);
    assert.equal((await exchange.run({}, exchange.own)).expiry?.seconds, BigInt(startSeconds + 3600));
  });

  it("keeps the mappings of outside groups that it carries", async () => {
    const mappings = [`${group}/${"1".repeat(16)}/${"2".repeat(16)}`];
    const exchange = await open({ mappings });
    const { token } = await exchange.run({}, exchange.own);
    assert.deepEqual((await exchange.node.tokens.verify(token)).mappings, mappings);
  });

  it("X2: one of our own tokens is not exchanged for a token of another identity", async () => {
    const exchange = await open();
    exchange.add("org/other", workload);
    const promise = exchange.run({ identity: uid("org/other") }, exchange.own);
    await assert.rejects(promise, { code: Code.PERMISSION_DENIED, metadata: { claim: "sub", presented: identity } });
  });

  it("one of our own tokens is rejected once its identity is deleted", async () => {
    const exchange = await open();
    exchange.remove("org/id");
    assert.match(await outcome(exchange.run({}, exchange.own)), /^PERMISSION_DENIED .*invalid "sub"/);
  });

  it("a token is rejected once the static keys of its identity have expired, and lasts no longer than they", async () => {
    const exchange = await open();
    exchange.add("org/id", staticKeys("keys", { expirationTime: { seconds: BigInt(startSeconds + 100), nanos: 0 } }));
    assert.equal((await exchange.run({}, exchange.own)).expiry?.seconds, BigInt(startSeconds + 100));
    exchange.clock.advance(100_000);
    assert.match(await outcome(exchange.run({}, exchange.own)), /^PERMISSION_DENIED .*static keys .* expired$/);
  });

  it("a token is rejected if it has expired, or is only claimed to be ours", async () => {
    const exchange = await open();
    const forged = withClaims(exchange.node, { sub: identity, aud: "other" });
    const cut = exchange.own.slice(0, -4);
    for (const token of [forged, cut]) {
      assert.match(await outcome(exchange.run({}, token)), /^PERMISSION_DENIED verifying token: oidc: /);
    }
    exchange.clock.advance(3600_000);
    assert.match(await outcome(exchange.run({}, exchange.own)), /^PERMISSION_DENIED verifying token: oidc: /);
  });

  const narrowed = { scopes: [inner], capabilities: capabilities("groups.list", "roles.list") };
  const allowed: readonly (readonly [rule: string, request: object, narrowing: object])[] = [
    ["keeps its narrowing", {}, narrowed],
    [
      "is narrowed to a scope within",
      { scopes: [`${inner}/${"0".repeat(16)}`] },
      { ...narrowed, scopes: [`${inner}/${"0".repeat(16)}`] },
    ],
    [
      "is narrowed to fewer capabilities",
      { cap: ["groups.list"] },
      { ...narrowed, capabilities: capabilities("groups.list") },
    ],
    ["is asked for what it has", { scopes: [inner], cap: ["roles.list", "groups.list"] }, narrowed],
  ];
  for (const [rule, request, narrowing] of allowed) {
    it(`X3: a narrowed token ${rule}`, async () => {
      const exchange = await open({ narrowing: narrowed });
      const { token } = await exchange.run(request, exchange.own);
      assert.deepEqual((await exchange.node.tokens.verify(token)).narrowing, narrowing);
    });
  }

  const widened: readonly (readonly [rule: string, request: object, metadata: object])[] = [
    ["another audience", { aud: ["registry.example"] }, { aud: "registry.example" }],
    ["one more audience", { aud: audiences }, { aud: "registry.example" }],
    ["the scope above", { scopes: [group] }, { scope: group }],
    ["one more scope", { scopes: [inner, uid("org/next")] }, { scope: uid("org/next") }],
    ["another capability", { cap: ["groups.list", "groups.create"] }, { capability: "groups.create" }],
  ];
  for (const [rule, request, metadata] of widened) {
    it(`X3: an exchange does not widen one of our own tokens by ${rule}`, async () => {
      const exchange = await open({ narrowing: narrowed });
      await assert.rejects(exchange.run(request, exchange.own), { code: Code.PERMISSION_DENIED, metadata });
      assert.deepEqual(exchange.touched, []);
    });
  }

  it("a token that is not narrowed can be exchanged for a narrowed one", async () => {
    const exchange = await open({ audience: audiences });
    const { token } = await exchange.run({ scopes: [inner], aud: ["registry.example"] }, exchange.own);
    const { narrowing, audience } = await exchange.node.tokens.verify(token);
    assert.deepEqual([narrowing, audience], [{ scopes: [inner] }, ["registry.example"]]);
  });
});
