import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLocalJWKSet, decodeJwt, jwtVerify } from "jose";
import { Code } from "../../src/aip/errors.ts";
import type { KeyAlgorithm } from "../../src/authn/signing-key.ts";
import { TokenError, type TokenErrorReason, tokenErrorText } from "../../src/authn/token-error.ts";
import { newTokens } from "../../src/authn/tokens.ts";
import { capabilityNames, capabilitySet, formatCapabilitySet } from "../../src/model/capabilities.ts";
import {
  isApiError,
  issuer,
  openNode,
  plainRequest,
  reasonOf,
  startSeconds,
  startTime,
  subject,
  testClock,
  withClaims,
} from "./token-fixtures.ts";

const iat = startSeconds;
const algorithms: KeyAlgorithm[] = ["RS256", "ES256"];

for (const algorithm of algorithms) {
  describe(`tokens by ${algorithm}`, async () => {
    const node = await openNode(algorithm);
    const { tokens, keys } = node;

    it("tokens have the requested claims, and an independent library verifies them", async () => {
      const request = {
        ...plainRequest,
        email: "dev@example.com",
        emailVerified: true,
        grants: { [subject]: formatCapabilitySet(capabilitySet([])) },
      };
      const { token, expiresAt } = await tokens.issue(request);
      const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(keys.jwks()), {
        issuer,
        audience: issuer,
        typ: "JWT",
        algorithms: [algorithm],
        currentDate: new Date(startTime),
      });
      assert.deepEqual(protectedHeader, { alg: algorithm, kid: (await keys.signing("others")).kid, typ: "JWT" });
      const { jti, ...claims } = payload;
      assert.match(String(jti), /^[\w-]{22}$/);
      assert.deepEqual(claims, {
        iss: issuer,
        sub: subject,
        aud: issuer,
        iat,
        exp: iat + 3600,
        act: request.act,
        email: "dev@example.com",
        email_verified: true,
        cap: request.grants,
      });
      assert.equal(expiresAt, (iat + 3600) * 1000);
    });

    it("verified tokens have the claims that were issued", async () => {
      const { token } = await tokens.issue({ ...plainRequest, email: "dev@example.com", emailVerified: false });
      assert.deepEqual(await tokens.verify(token), {
        subject,
        audience: [issuer],
        issuedAt: iat * 1000,
        expiresAt: (iat + 3600) * 1000,
        act: plainRequest.act,
        email: "dev@example.com",
        emailVerified: false,
        narrowing: {},
      });
    });
  });
}

describe("a new token", async () => {
  const { tokens } = await openNode("ES256");
  const claimsOf = async (changes: Partial<typeof plainRequest>) =>
    decodeJwt((await tokens.issue({ ...plainRequest, ...changes })).token);

  it("has one audience as a string, several as an array", async () => {
    assert.equal((await claimsOf({ audience: [issuer] })).aud, issuer);
    assert.deepEqual((await claimsOf({ audience: [issuer, "registry.example"] })).aud, [issuer, "registry.example"]);
  });

  it("a new token has an email address and a narrowing only if they are given", async () => {
    const members = Object.keys(await claimsOf({}));
    assert.deepEqual(members, ["iss", "sub", "aud", "iat", "exp", "jti", "act", "cap"]);
  });

  it("each token has another jti", async () => {
    assert.notEqual((await claimsOf({})).jti, (await claimsOf({})).jti);
  });

  const ends: [name: string, notAfter: number, exp: number][] = [
    ["sooner than the hour", startTime + 60_000, iat + 60],
    ["later than the hour", startTime + 7_200_000, iat + 3600],
    ["within a second, which is cut off", (iat + 61) * 1000 - 1, iat + 60],
  ];
  for (const [name, notAfter, exp] of ends) {
    it(`never outlives notAfter: ${name}`, async () => {
      assert.equal((await claimsOf({ notAfter })).exp, exp);
      assert.equal((await tokens.issue({ ...plainRequest, notAfter })).expiresAt, exp * 1000);
    });
  }

  it("a token is rejected once its notAfter has passed", async () => {
    const issued = tokens.issue({ ...plainRequest, notAfter: startTime });
    await assert.rejects(issued, isApiError(Code.PERMISSION_DENIED, /has expired/));
  });

  it("T11: is rejected when a claim of the outside token holds half a surrogate pair", async () => {
    const inAct = tokens.issue({ ...plainRequest, act: { iss: "x", sub: "\ud800", aud: "y" } });
    await assert.rejects(inAct, isApiError(Code.PERMISSION_DENIED, /claim sub /));
    const inEmail = tokens.issue({ ...plainRequest, act: { email: "good" }, email: "\udc00@example.com" });
    await assert.rejects(inEmail, isApiError(Code.PERMISSION_DENIED, /claim email /));
  });

  it("leaves cap out rather than growing beyond a header line", async () => {
    const grants = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, i) => [`${i}`.padStart(40, "0"), "AAAAAAAAADIAAAAAAAAAAA=="]),
      );
    assert.deepEqual((await claimsOf({ grants: grants(50) })).cap, grants(50));
    const { token } = await tokens.issue({ ...plainRequest, grants: grants(10_000) });
    assert.equal(decodeJwt(token).cap, undefined);
    assert.ok(token.length < 8 * 1024);
    assert.equal((await tokens.verify(token)).subject, subject);
  });

  it("a token is rejected when its narrowing alone is too long, since nothing of it may be left out", async () => {
    const scopes = Array.from({ length: 500 }, (_, i) => `${i}`.padStart(40, "0"));
    const issued = tokens.issue({ ...plainRequest, narrowing: { scopes } });
    await assert.rejects(issued, isApiError(Code.RESOURCE_EXHAUSTED, /fewer scopes/));
  });
});

describe("the narrowing of a token", async () => {
  const { tokens } = await openNode("ES256");
  const other = "c3".repeat(20);
  const capabilities = capabilitySet([101, 103]);
  const cases = [
    { name: "none", narrowing: {} },
    { name: "scopes", narrowing: { scopes: [subject, other] } },
    { name: "no scope at all, which is not the same as none stated", narrowing: { scopes: [] } },
    { name: "capabilities", narrowing: { capabilities } },
    { name: "no capability at all", narrowing: { capabilities: capabilitySet([]) } },
    { name: "scopes and capabilities", narrowing: { scopes: [other], capabilities } },
  ];
  it("is tested with capabilities that exist", () => assert.equal(capabilityNames(capabilities).length, 2));
  for (const { name, narrowing } of cases) {
    it(`the narrowing is decoded unchanged: ${name}`, async () => {
      const { token } = await tokens.issue({ ...plainRequest, narrowing });
      assert.deepEqual((await tokens.verify(token)).narrowing, narrowing);
      assert.equal("gatehouse" in decodeJwt(token), Object.keys(narrowing).length > 0);
    });
  }
});

describe("newTokens", async () => {
  const { keys } = await openNode("ES256");
  const cases: [name: string, options: { issuer: string; audiences: string[] }, message: RegExp][] = [
    ["without issuer", { issuer: "", audiences: [issuer] }, /^issuer: must not be empty/],
    ["without audience", { issuer, audiences: [] }, /^audiences: must name/],
    ["with an empty audience", { issuer, audiences: [issuer, ""] }, /^audiences: must not be empty/],
  ];
  for (const [name, options, message] of cases) {
    it(`T4: does not start ${name}`, () => {
      const create = () => newTokens({ ...options, keys, clock: testClock().read });
      assert.throws(create, (error: Error) => message.test(error.message));
    });
  }

  it("accepts each of its audiences", async () => {
    const node = await openNode("ES256", { audiences: [issuer, "registry.example"] });
    assert.equal(await reasonOf(node, withClaims(node, { aud: "registry.example" })), "accepted");
  });
});

describe("tokenErrorText", () => {
  const reasons: TokenErrorReason[] = [
    ...(["malformed", "header", "algorithm", "unknown-key", "signature"] as const),
    ...(["issuer", "audience", "expired", "not-yet-valid", "claims"] as const),
  ];
  it("returns the same error for every fault", () => {
    const texts = new Set(reasons.map((reason) => tokenErrorText(new TokenError(reason))));
    assert.deepEqual([...texts], ["the access token is not valid for this service or has expired"]);
  });

  it("names the missing audience, and the command that gets a token for it", async () => {
    const node = await openNode("ES256", { audiences: ["registry.example"] });
    const error = await Promise.resolve(withClaims(node, { aud: issuer }))
      .then(node.tokens.verify)
      .catch((thrown) => thrown);
    assert.match(
      tokenErrorText(error),
      /is not for registry\.example; "gatehouse auth token --audience registry\.example"/,
    );
  });
});
