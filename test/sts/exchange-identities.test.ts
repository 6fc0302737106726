import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Code } from "../../src/aip/errors.ts";
import {
  capabilities,
  encode,
  openWithWorkload,
  outcome,
  outsideClaims,
  outsideIssuer,
  outsideToken,
  uid,
  workload,
} from "./exchange-fixtures.ts";

const identity = uid("org/id");

describe("an identity", () => {
  const fetched = [`${outsideIssuer}/.well-known/openid-configuration`, `${outsideIssuer}/keys`];

  it("X1, J1, J2: a token of another issuer is denied before anything is fetched, and the error names the claim and its value", async () => {
    const exchange = await openWithWorkload();
    const pattern = "https://good\\.example(?:/.*)?";
    exchange.add("org/wide", {
      case: "claimMatch",
      value: { iss: { case: "issuerPattern", value: pattern }, sub: { case: "subjectPattern", value: ".*" } },
    });
    const issuers = [
      "http://169.254.169.254/?https://good.example",
      "https://good.example@evil.example",
      "http://127.0.0.1:8080",
      "http://169.254.169.254",
      "http://10.0.0.1",
      "https://[::ffff:127.0.0.1]",
      "https://good.example.evil.example",
    ];
    for (const iss of issuers) {
      for (const name of ["org/id", "org/wide"]) {
        const promise = exchange.run({ identity: uid(name) }, await outsideToken({ iss }));
        await assert.rejects(promise, {
          code: Code.PERMISSION_DENIED,
          message: `Permission denied: invalid "iss": the subject token has "${iss}"`,
          metadata: { claim: "iss", presented: iss },
        });
      }
    }
    assert.deepEqual(exchange.outside.requests, []);
  });

  it("J7: an identity is not assumed by a token whose issuer has another spelling, even if the pattern matches it; that issuer is not contacted", async () => {
    const exchange = await openWithWorkload();
    exchange.add("org/wide", {
      case: "claimMatch",
      value: {
        iss: { case: "issuerPattern", value: "https://good\\.example/.*" },
        sub: { case: "subjectPattern", value: ".*" },
      },
    });
    const paths = ["?a", "#a", "a/../b", "a/%2e%2e/b", "a//b", "%61", "a%2fb", "a/..;/b", "a\\b", "a\t", "a/\u202eb"];
    for (const path of paths) {
      const token = await outsideToken({ iss: `https://good.example/${path}` });
      assert.match(
        await outcome(exchange.run({ identity: uid("org/wide") }, token)),
        /^PERMISSION_DENIED .*"iss"/,
        path,
      );
    }
    assert.deepEqual(exchange.outside.requests, []);
  });

  it("J7: an identity whose issuer is stored in another spelling by an earlier version is not assumed, and the error says why", async () => {
    const exchange = await openWithWorkload();
    const iss = "https://Issuer.example:443/a";
    exchange.add("org/old", {
      case: "claimMatch",
      value: { iss: { case: "issuer", value: iss }, sub: { case: "subject", value: "workload" } },
    });
    assert.equal(
      await outcome(exchange.run({ identity: uid("org/old") }, await outsideToken({ iss }))),
      'PERMISSION_DENIED verifying token: oidc: the keys of the issuer cannot be used: the issuer must be written as "https://issuer.example/a"',
    );
    assert.deepEqual(exchange.outside.requests, []);
  });

  it("an identity is not assumed by a subject or an audience with characters that nobody sees", async () => {
    const exchange = await openWithWorkload();
    exchange.add("org/any", {
      case: "claimMatch",
      value: {
        iss: { case: "issuer", value: outsideIssuer },
        sub: { case: "subjectPattern", value: "(?s).*" },
        aud: { case: "audiencePattern", value: "(?s).*" },
      },
    });
    for (const hidden of ["a\u0000", "a\n", "a\u0085", "a\u202eb", "a\u2066b", "\u200fa", "a\u2028"]) {
      for (const claim of ["sub", "aud"]) {
        const result = await outcome(
          exchange.run({ identity: uid("org/any") }, await outsideToken({ [claim]: hidden })),
        );
        assert.match(
          result,
          new RegExp(`^PERMISSION_DENIED Permission denied: invalid "${claim}"`),
          JSON.stringify(hidden),
        );
        assert.doesNotMatch(result, /[\p{Cc}\p{Bidi_Control}\p{Zl}]/u);
      }
    }
  });

  it("a missing identity gets the same response as one of another issuer", async () => {
    const exchange = await openWithWorkload();
    const token = await outsideToken({ iss: "https://other.example" });
    const [absent, present] = [uid("org/none"), identity];
    assert.equal(
      await outcome(exchange.run({ identity: absent }, token)),
      await outcome(exchange.run({ identity: present }, token)),
    );
  });

  it("R11: a service principal or an AWS identity is assumed by no token, and the errors are alike", async () => {
    const exchange = await openWithWorkload();
    exchange.add("org/principal", { case: "servicePrincipal", value: 2 });
    exchange.add("org/aws", { case: "awsIdentity", value: { awsAccount: "123456789012" } });
    exchange.add("org/nothing", { case: undefined });
    for (const name of ["org/principal", "org/aws", "org/nothing"]) {
      const result = await outcome(exchange.run({ identity: uid(name) }, await outsideToken()));
      assert.equal(
        result,
        `PERMISSION_DENIED Permission denied: invalid "iss": the subject token has "${outsideIssuer}"`,
      );
    }
    assert.deepEqual(exchange.outside.requests, []);
  });

  const table: readonly (readonly [rule: string, changes: object, claim: string, presented: string])[] = [
    ["sub", { sub: "other" }, "sub", "other"],
    ["absent sub", { sub: undefined }, "sub", ""],
    ["X10: aud", { aud: "https://other.example" }, "aud", "https://other.example"],
    ["aud in a list", { aud: ["a", "b"] }, "aud", '["a","b"]'],
    ["absent aud", { aud: undefined }, "aud", ""],
    ["L2: sub with a line break and an escape", { sub: "a\n{\u001b[0m\u202e" }, "sub", "a\\u{a}{\\u{1b}[0m\\u{202e}"],
    ["L2: sub without end", { sub: "a".repeat(5000) }, "sub", `${"a".repeat(200)}…`],
  ];
  for (const [rule, changes, claim, presented] of table) {
    it(`an exchange is denied for another ${rule}, and message and metadata of the error name the claim`, async () => {
      const exchange = await openWithWorkload();
      const text = presented === "" ? "the subject token has none" : `the subject token has "${presented}"`;
      await assert.rejects(exchange.run({ identity }, await outsideToken(changes)), {
        code: Code.PERMISSION_DENIED,
        message: `Permission denied: invalid "${claim}": ${text}`,
        metadata: { claim, presented },
      });
      assert.deepEqual(exchange.touched, []);
    });
  }

  it("the error for an unsigned token reveals only that its issuer differs", async () => {
    const exchange = await openWithWorkload();
    const forged = `${encode({ alg: "ES256", kid: "ES256-1" })}.${encode(outsideClaims({ sub: "guess" }))}.YWJj`;
    assert.match(await outcome(exchange.run({ identity }, forged)), /verifying token: oidc: failed to verify/);
  });

  it("X4: rejects the same token after an update that no longer matches it", async () => {
    const exchange = await openWithWorkload();
    const token = await outsideToken();
    assert.equal(await outcome(exchange.run({ identity }, token)), "OK");
    const value = { iss: { case: "issuer", value: outsideIssuer }, sub: { case: "subject", value: "other" } } as const;
    exchange.add("org/id", { case: "claimMatch", value });
    assert.match(await outcome(exchange.run({ identity }, token)), /invalid "sub"/);
    exchange.remove("org/id");
    assert.match(await outcome(exchange.run({ identity }, token)), /invalid "iss"/);
  });

  it("an identity is UNAVAILABLE while its issuer does not respond", async () => {
    const exchange = await openWithWorkload();
    exchange.outside.documents.clear();
    const promise = exchange.run({ identity }, await outsideToken());
    assert.equal(await outcome(promise), "UNAVAILABLE Unavailable: the issuer of the subject token does not answer");
    assert.deepEqual(exchange.outside.requests, fetched.slice(0, 1));
  });

  it("Google's issuer is accepted with and without its scheme", async () => {
    const exchange = await openWithWorkload();
    const google = "https://accounts.google.com";
    for (const [url, document] of exchange.outside.documents) {
      const text = JSON.stringify(document).replaceAll(outsideIssuer, google);
      exchange.outside.documents.set(url.replace(outsideIssuer, google), JSON.parse(text));
    }
    exchange.bound.set(uid("org/google"), new Map([[uid("org"), capabilities("groups.list")]]));
    exchange.add("org/google", {
      case: "claimMatch",
      value: { iss: { case: "issuer", value: google }, sub: { case: "subject", value: "1".repeat(21) } },
    });
    for (const iss of [google, "accounts.google.com"]) {
      const token = await outsideToken({ iss, sub: "1".repeat(21) });
      assert.equal(await outcome(exchange.run({ identity: uid("org/google") }, token)), "OK");
      assert.equal(await outcome(exchange.run({ scope: uid("org") }, token)), "OK");
    }
  });
});

describe("X2: without an identity in the request", () => {
  const org = { scope: uid("org") };
  const none = /^PERMISSION_DENIED Permission denied: no identity in the group accepts the subject token/;

  it("a workload gets no token without a group, even if identities match its token, and the error says what to name", async () => {
    const exchange = await openWithWorkload();
    assert.equal(
      await outcome(exchange.run({}, await outsideToken())),
      "PERMISSION_DENIED Permission denied: no person is registered with the issuer and subject of the token: a workload names its identity, or a group in which it is",
    );
    assert.deepEqual(exchange.outside.requests, []);
  });

  it("the only identity below the group with the issuer and subject is assumed, regardless of other groups", async () => {
    const exchange = await openWithWorkload();
    for (let i = 0; i < 20; i++) exchange.add(`stranger/s${i}`, workload);
    const { token } = await exchange.run(org, await outsideToken());
    const { subject, narrowing } = await exchange.node.tokens.verify(token);
    assert.deepEqual([subject, narrowing.scopes], [identity, [uid("org")]]);
    assert.match(await outcome(exchange.run({ scope: uid("else") }, await outsideToken())), none);
  });

  it("an identity that is in two of the groups is one", async () => {
    const exchange = await openWithWorkload();
    exchange.add("org/team/deep", workload);
    exchange.remove("org/id");
    exchange.bound.set(uid("org/team/deep"), new Map([[uid("org"), capabilities("groups.list")]]));
    assert.equal(await outcome(exchange.run({ scopes: [uid("org"), uid("org/team")] }, await outsideToken())), "OK");
  });

  it("none, several and one that denies the token give the same error, unless the token is accepted by several", async () => {
    const exchange = await openWithWorkload();
    const otherAudience = await outsideToken({ aud: "other" });
    const forged = `${(await outsideToken()).split(".").slice(0, 2).join(".")}.YWJj`;
    const errors = async () => [
      await outcome(exchange.run(org, otherAudience)),
      await outcome(exchange.run(org, forged)),
    ];
    const ofOne = await errors();
    exchange.add("org/twin", workload);
    const ofTwo = await errors();
    await assert.rejects(exchange.run(org, await outsideToken()), {
      code: Code.PERMISSION_DENIED,
      reason: "IDENTITY_AMBIGUOUS",
      message: "Permission denied: several identities in the group accept the subject token: name one",
    });
    exchange.remove("org/twin");
    exchange.remove("org/id");
    assert.deepEqual([ofOne, ofTwo], [await errors(), await errors()]);
    for (const error of ofOne) assert.match(error, none);
  });

  it("an expired token is called so whether or not an identity matches it", async () => {
    const exchange = await openWithWorkload();
    const token = await outsideToken({ exp: 1 });
    for (const scope of [uid("org"), uid("else")])
      assert.match(await outcome(exchange.run({ scope }, token)), /verifying token: oidc: token is expired/);
  });

  it("M4: no identity is assumed if the pattern budget left candidates untested", async () => {
    const exchange = await openWithWorkload();
    const claimPatterns = Object.fromEntries(["a", "b", "c", "d"].map((name) => [name, "(.*a){0,90}.*x"]));
    exchange.add("org/heavy", {
      case: "claimMatch",
      value: {
        iss: { case: "issuer", value: outsideIssuer },
        sub: { case: "subject", value: "workload" },
        claimPatterns,
      },
    });
    const long = `${"a".repeat(150)}x`;
    const token = await outsideToken({ a: long, b: long, c: long, d: long });
    const tooMuch = /^PERMISSION_DENIED .*takes too many steps$/;
    assert.match(await outcome(exchange.run({ identity: uid("org/heavy") }, token)), tooMuch);
    exchange.remove("org/id");
    assert.match(await outcome(exchange.run(org, token)), tooMuch);
  });

  it("no identity is assumed for an empty issuer or subject, which identities with patterns have stored", async () => {
    const exchange = await openWithWorkload();
    exchange.add("org/wide", {
      case: "claimMatch",
      value: { iss: { case: "issuer", value: outsideIssuer }, sub: { case: "subjectPattern", value: ".*" } },
    });
    for (const changes of [{ sub: "" }, { sub: undefined }, { iss: "" }, { iss: undefined }]) {
      assert.match(await outcome(exchange.run(org, await outsideToken(changes))), none);
    }
  });

  it("an issuer that does not respond makes it UNAVAILABLE", async () => {
    const exchange = await openWithWorkload();
    exchange.outside.documents.clear();
    assert.match(await outcome(exchange.run(org, await outsideToken())), /^UNAVAILABLE /);
  });
});
