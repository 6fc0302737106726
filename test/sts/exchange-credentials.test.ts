import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ApiError, Code } from "../../src/aip/errors.ts";
import { startSeconds, startTime } from "../authn/token-fixtures.ts";
import {
  badTokensPerSecond,
  encode,
  failedCalls,
  openExchange,
  openWithWorkload,
  outcome,
  outsideClaims,
  outsideKey,
  outsideToken,
  uid,
  unsigned,
  workload,
} from "./exchange-fixtures.ts";
import { keyPair, network, signOutside } from "./outside.ts";

const identity = uid("org/id");

describe("a credential", () => {
  const table: readonly (readonly [rule: string, headers: Record<string, string>])[] = [
    ["X2: that is absent", {}],
    ["X2: that is empty", { authorization: "" }],
    ["X2: that is a scheme only", { authorization: "Bearer " }],
    ["X2: that is sent twice", { authorization: "Bearer a.b.c, Bearer a.b.c" }],
    ["X2: of another scheme", { authorization: "Basic YTpi" }],
    ["X14: in another header", { "x-token": "a.b.c" }],
    ["T9: of a mebibyte of dots", { authorization: `Bearer ${".".repeat(1 << 20)}` }],
  ];
  for (const [rule, headers] of table) {
    it(`${rule} is UNAUTHENTICATED, and the reply not stored`, async () => {
      const exchange = await openWithWorkload();
      const promise = exchange.run({ identity }, headers);
      await assert.rejects(promise, (error) => {
        assert.ok(error instanceof ApiError && error.code === Code.UNAUTHENTICATED);
        assert.equal(failedCalls.get(error)?.responseHeaders.get("cache-control"), "no-store");
        return true;
      });
      assert.deepEqual([exchange.outside.requests, exchange.touched, exchange.events], [[], [], []]);
    });
  }

  const malformed: readonly (readonly [rule: string, headers: Record<string, string>])[] = [
    ["that is not a JWS", { authorization: "Bearer token" }],
    ["of two segments", { authorization: "Bearer a.b" }],
    ["of five segments, which is encryption", { authorization: `Bearer ${encode({ alg: "dir" })}.a.b.c.d` }],
    ["whose header is not JSON", { authorization: `Bearer abcd.${encode({})}.abcd` }],
    ["whose header is a list", { authorization: `Bearer ${encode([])}.${encode({})}.abcd` }],
    ["whose claims are not JSON", { authorization: `Bearer ${encode({ alg: "ES256" })}.abcd.abcd` }],
    ["whose claims are null", { authorization: `Bearer ${encode({ alg: "ES256" })}.${encode(null)}.abcd` }],
    ["whose claims are a text", { authorization: `Bearer ${encode({ alg: "ES256" })}.${encode("a")}.abcd` }],
  ];
  for (const [rule, headers] of malformed) {
    it(`${rule} is a token that does not verify, and the reply not stored`, async () => {
      const exchange = await openWithWorkload();
      await assert.rejects(exchange.run({ identity }, headers), (error) => {
        assert.ok(error instanceof ApiError && error.code === Code.PERMISSION_DENIED);
        assert.match(error.message, /^verifying token: oidc: malformed jwt: /);
        assert.deepEqual(error.metadata, { check: "token" });
        assert.equal(failedCalls.get(error)?.responseHeaders.get("cache-control"), "no-store");
        return true;
      });
      assert.deepEqual([exchange.outside.requests, exchange.touched, exchange.events], [[], [], []]);
    });
  }

  const refused: readonly (readonly [rule: string, token: () => Promise<string>, message: RegExp])[] = [
    [
      "X4: has expired",
      () => outsideToken({ exp: startSeconds }),
      /oidc: token is expired \(Token Expiry: 2026-01-02T/,
    ],
    ["has no expiry", () => outsideToken({ exp: undefined }), /oidc: the token has no time of expiry$/],
    ["expires at a text", () => outsideToken({ exp: `${startSeconds + 600}` }), /no time of expiry$/],
    ["T6: expires beyond all time", () => outsideToken({ exp: 1e308 }), /no time of expiry$/],
    ["T6: expired before all time", () => outsideToken({ exp: -1e308 }), /no time of expiry$/],
    ["is not valid yet", () => outsideToken({ nbf: startSeconds + 62 }), /oidc: the token is not valid yet$/],
    ["is of the future", () => outsideToken({ iat: startSeconds + 62 }), /oidc: the token is of the future$/],
    ["is issued at a text", () => outsideToken({ iat: "now" }), /oidc: the token is of the future$/],
    ["J8: is signed by a key that is not the issuer's", () => outsideToken({}, keyPair("ES256", "other")), /no key of/],
    ["has the kid of another key", () => signAs(keyPair("ES256", "other"), "ES256-1"), /verify the signature$/],
    ["D8: is signed with ES512", () => outsideToken({}, keyPair("ES512")), /unsupported signing algorithm "ES512"$/],
    ["T1: is not signed", () => unsigned("none"), /unsupported signing algorithm "none"$/],
    ["T1: has no signature", () => unsigned("ES256"), /oidc: /],
    ["T2: is signed with a shared secret", () => unsigned("HS256", "c2lnbmF0dXJl"), /algorithm "HS256"$/],
    ...["logout+jwt", "application/secevent+jwt", "DPoP+JWT", "rt+jwt", "", "JWT+x"].map(
      (typ) =>
        [
          `has the type "${typ}"`,
          () => signOutside(outsideKey, outsideClaims(), { typ }),
          /the type of the token is ".*"; accepted: JWT, JOSE, at\+jwt, id\+jwt$/,
        ] as const,
    ),
    ["is a security event", () => outsideToken({ events: {} }), /the token has events$/],
    ["is bound to a key of its holder", () => outsideToken({ cnf: { jkt: "x" } }), /is bound to a key \("cnf"\)$/],
    ["has a signature with unused bits", async () => respelled(await outsideToken()), /is not canonical base64url$/],
    ["T3: brings its key along", () => unsigned("ES256", "YWJj", { jwk: keyPair("ES256").jwk }), /oidc: /],
    [
      "has a crit that nobody knows",
      () => unsigned("ES256", "YWJj", { crit: ["x"], x: 1, kid: "ES256-1" }),
      /extension that is not known$/,
    ],
  ];
  for (const [rule, token, message] of refused) {
    it(`a credential that ${rule} is PERMISSION_DENIED`, async () => {
      const exchange = await openWithWorkload();
      const result = await outcome(exchange.run({ identity }, await token()));
      assert.match(result, /^PERMISSION_DENIED verifying token: oidc: /);
      assert.match(result, message);
      assert.deepEqual(exchange.touched, []);
      assert.equal(exchange.events[0]?.event, "token_refused");
    });
  }

  for (const typ of [undefined, "JWT", "jwt", "JOSE", "at+jwt", "application/at+jwt", "id+jwt"])
    it(`a credential of the type ${typ} is accepted`, async () => {
      const exchange = await openWithWorkload();
      const token = await signOutside(outsideKey, outsideClaims(), typ === undefined ? {} : { typ });
      assert.equal(await outcome(exchange.run({ identity }, token)), "OK");
    });

  it("X4: a credential is rejected from the second of its expiry on", async () => {
    const exchange = await openWithWorkload();
    const token = await outsideToken({ exp: startSeconds + 1 });
    exchange.clock.advance((startSeconds + 1) * 1000 - startTime - 1);
    assert.equal(await outcome(exchange.run({ identity }, token)), "OK");
    exchange.clock.advance(1);
    assert.match(await outcome(exchange.run({ identity }, token)), /token is expired/);
  });

  it("a credential of a clock that is a minute ahead is accepted", async () => {
    const exchange = await openWithWorkload();
    const times = { iat: startSeconds + 60, nbf: startSeconds + 60 };
    assert.equal(await outcome(exchange.run({ identity }, await outsideToken(times))), "OK");
  });

  it("a credential that is expired or of a foreign algorithm costs no request", async () => {
    const exchange = await openWithWorkload();
    await outcome(exchange.run({ identity }, await outsideToken({ exp: startSeconds })));
    await outcome(exchange.run({ identity }, await unsigned("HS256", "YWJj")));
    assert.deepEqual(exchange.outside.requests, []);
  });

  it("D8: a credential is not verified once its address has sent too many bad ones, unless it was valid before or is one of our tokens", async () => {
    const exchange = await openWithWorkload();
    const known = await outsideToken();
    const own = await exchange.run({ identity }, known);
    for (let i = 0; i < badTokensPerSecond; i++) {
      assert.match(await outcome(exchange.run({ identity }, await outsideToken({ sub: "x" }))), /^PERMISSION_DENIED /);
    }
    const spent = "RESOURCE_EXHAUSTED Resource exhausted: too many bad tokens from this address; try again in a second";
    const unknown = await outsideToken({ jti: "another" });
    assert.equal(await outcome(exchange.run({ identity }, unknown)), spent);
    assert.equal(await outcome(exchange.run({ identity }, known)), "OK");
    assert.equal(await outcome(exchange.run({}, own.token)), "OK");
    exchange.clock.advance(1000);
    assert.equal(await outcome(exchange.run({ identity }, unknown)), "OK");
  });

  it("D8: a credential does not count against its address while its issuer is down", async () => {
    const exchange = await openExchange(network([]));
    exchange.add("org/id", workload);
    for (let i = 0; i <= badTokensPerSecond; i++) {
      assert.match(await outcome(exchange.run({ identity }, await outsideToken())), /^UNAVAILABLE /);
    }
  });

  it("a credential without a scheme, as from a file, is accepted", async () => {
    const exchange = await openWithWorkload();
    const token = { authorization: `${await outsideToken()}\n` };
    assert.equal(await outcome(exchange.run({ identity }, token)), "OK");
  });
});

async function signAs(key: ReturnType<typeof keyPair>, kid: string): Promise<string> {
  return await signOutside({ ...key, kid }, outsideClaims());
}

/** Spells the signature of a token with other unused bits (RFC 4648 §3.5). ES256 has four of them. */
function respelled(token: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return token.slice(0, -1) + alphabet[alphabet.indexOf(token.at(-1)!) + 1];
}
