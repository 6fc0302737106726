import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { Identity_StaticKeysSchema } from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { staticKeySet } from "../../src/sts/static-keys.ts";
import { startSeconds, startTime } from "../authn/token-fixtures.ts";
import { openWithWorkload, outcome, outsideClaims, outsideToken, staticKeys, uid } from "./exchange-fixtures.ts";
import { keyPair, keySetText, signOutside } from "./outside.ts";

const _identity = uid("org/id");

describe("static keys", () => {
  const own = keyPair("RS256");
  const request = { identity: uid("org/static") };

  async function openStatic(relationship: ReturnType<typeof staticKeys>, createTime = startTime) {
    const exchange = await openWithWorkload();
    exchange.add("org/static", relationship, createTime);
    return exchange;
  }

  it("static keys verify a token without a request to the issuer", async () => {
    const exchange = await openStatic(staticKeys(keySetText(own)));
    assert.equal(await outcome(exchange.run(request, await outsideToken({}, own))), "OK");
    assert.deepEqual(exchange.outside.requests, []);
  });

  it("D8: are read once, however often they are used", async () => {
    const find = () => {
      const identity = create(Identity_StaticKeysSchema, { issuerKeys: keySetText(own) });
      return staticKeySet(identity).find({ alg: own.alg, kid: own.kid });
    };
    const [first, second] = [await find(), await find()];
    assert.equal(first.length, 1);
    assert.equal(first[0], second[0]);
  });

  it("verify a token without a kid, as docker clients send it", async () => {
    const exchange = await openStatic(staticKeys(keySetText(keyPair("ES256"), own)));
    const token = await signOutside({ ...own, kid: undefined }, outsideClaims());
    assert.equal(await outcome(exchange.run(request, token)), "OK");
  });

  it("X13: static keys of another identity with the same issuer do not verify a token", async () => {
    const exchange = await openStatic(staticKeys(keySetText(own)));
    exchange.add("org/other", staticKeys(keySetText(keyPair("RS256", "other"))));
    const token = await signOutside({ ...keyPair("RS256", "other"), kid: own.kid }, outsideClaims());
    assert.match(await outcome(exchange.run(request, token)), /^PERMISSION_DENIED .*failed to verify the signature$/);
    const named = await outsideToken({}, keyPair("RS256", "other"));
    assert.match(await outcome(exchange.run(request, named)), /^PERMISSION_DENIED .*no key of the issuer/);
  });

  it("a key from the issuer's own key set does not verify a token for static keys", async () => {
    const exchange = await openStatic(staticKeys(keySetText(own)));
    assert.match(await outcome(exchange.run(request, await outsideToken())), /^PERMISSION_DENIED .*no key/);
  });

  for (const text of [
    "keys",
    "{}",
    "[]",
    "null",
    '{"keys":{}}',
    '{"keys":[null,1,"a"]}',
    '{"keys":[{"kty":"oct","k":"YQ"}]}',
  ]) {
    it(`never verify when they are ${text}`, async () => {
      const exchange = await openStatic(staticKeys(text));
      assert.match(await outcome(exchange.run(request, await outsideToken())), /^PERMISSION_DENIED .*no key/);
    });
  }

  it("static keys have their own audience instead of the server's", async () => {
    const exchange = await openStatic(staticKeys(keySetText(own), { audiences: ["own"] }));
    assert.equal(await outcome(exchange.run(request, await outsideToken({ aud: "own" }, own))), "OK");
    assert.match(await outcome(exchange.run(request, await outsideToken({}, own))), /invalid "aud"/);
  });

  for (const [nanos, what] of [
    [0, "at a second"],
    [999_999, "within a millisecond, which they do not see the end of"],
  ] as const) {
    it(`serve until they expire, and so do the tokens: ${what}`, async () => {
      const expirationTime = { seconds: BigInt(startSeconds + 100), nanos };
      const exchange = await openStatic(staticKeys(keySetText(own), { expirationTime }));
      const token = await outsideToken({}, own);
      const { expiry } = await exchange.run(request, token);
      assert.equal(expiry?.seconds, BigInt(startSeconds + 100));
      exchange.clock.advance(100_000);
      assert.match(await outcome(exchange.run(request, token)), /^PERMISSION_DENIED .*static keys .* expired$/);
    });
  }

  it("static keys are valid for 365 days by default", async () => {
    const year = 365 * 24 * 3600 * 1000;
    const token = await outsideToken({}, own);
    const young = await openStatic(staticKeys(keySetText(own)), startTime - year + 60_000);
    assert.equal(await outcome(young.run(request, token)), "OK");
    const old = await openStatic(staticKeys(keySetText(own)), startTime - year);
    assert.match(await outcome(old.run(request, token)), /expired$/);
  });

  it("static keys require the issuer and the subject", async () => {
    const exchange = await openStatic(staticKeys(keySetText(own)));
    assert.match(await outcome(exchange.run(request, await outsideToken({ sub: "other" }, own))), /invalid "sub"/);
    const elsewhere = await outsideToken({ iss: "https://other.example" }, own);
    assert.match(await outcome(exchange.run(request, elsewhere)), /invalid "iss"/);
  });
});
