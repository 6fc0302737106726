import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BadRequestSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { ApiError, Code } from "../../src/aip/errors.ts";
import { formatCapabilitySet } from "../../src/model/capabilities.ts";
import { issuer, startSeconds, startTime } from "../authn/token-fixtures.ts";
import {
  audiences,
  capabilities,
  openWithWorkload,
  outcome,
  outsideIssuer,
  outsideToken,
  uid,
} from "./exchange-fixtures.ts";

const identity = uid("org/id");

describe("an exchange", () => {
  it("returns an API token for one hour, and records the time of use", async () => {
    const exchange = await openWithWorkload();
    const { token, expiry, headers } = await exchange.run({ identity }, await outsideToken());
    assert.deepEqual(await exchange.node.tokens.verify(token), {
      subject: identity,
      audience: [issuer],
      issuedAt: startSeconds * 1000,
      expiresAt: (startSeconds + 3600) * 1000,
      email: "",
      emailVerified: false,
      narrowing: {},
      act: { iss: outsideIssuer, sub: "workload", aud: issuer },
    });
    assert.equal(expiry?.seconds, BigInt(startSeconds + 3600));
    assert.deepEqual(exchange.touched, [[identity, startTime]]);
    assert.deepEqual([...headers], [["cache-control", "no-store"]]);
    const event = { event: "token_issued", identity, issuer: outsideIssuer, subject: "workload" };
    assert.deepEqual(exchange.events, [event]);
  });

  it("asks for several audiences at once, each once", async () => {
    const exchange = await openWithWorkload();
    const { token } = await exchange.run({ identity, aud: [...audiences, issuer] }, await outsideToken());
    assert.deepEqual((await exchange.node.tokens.verify(token)).audience, audiences);
  });

  it("writes the audiences of the subject token as one text", async () => {
    const exchange = await openWithWorkload();
    const { token } = await exchange.run({ identity }, await outsideToken({ aud: ["other", "gatehouse.example"] }));
    assert.equal((await exchange.node.tokens.verify(token)).act.aud, "other,gatehouse.example");
  });

  it("has the texts of an audience list, and ignores other values in it", async () => {
    const exchange = await openWithWorkload();
    for (const other of [{ toString: 1 }, { valueOf: null, toString: null }, ["nested"], 1, null]) {
      const { token } = await exchange.run({ identity }, await outsideToken({ aud: ["gatehouse.example", other] }));
      assert.equal((await exchange.node.tokens.verify(token)).act.aud, "gatehouse.example");
    }
  });

  it("cuts texts that would leave no room in the token, between characters", async () => {
    const exchange = await openWithWorkload();
    const value = {
      iss: { case: "issuer", value: outsideIssuer },
      sub: { case: "subjectPattern", value: "a.*" },
    } as const;
    exchange.add("org/id", { case: "claimMatch", value });
    const { token } = await exchange.run({ identity }, await outsideToken({ sub: `a${"\u{1f600}".repeat(600)}` }));
    const { sub } = (await exchange.node.tokens.verify(token)).act;
    assert.deepEqual([sub?.length, sub?.isWellFormed()], [1024, true]);
  });

  describe("X11: passes an e-mail address on", () => {
    const table: readonly (readonly [rule: string, claims: object, email: string, isVerified: boolean])[] = [
      ["that is verified", { email: "a@good.com", email_verified: true }, "a@good.com", true],
      ["that is not verified", { email: "a@good.com", email_verified: false }, "a@good.com", false],
      ["that is not said to be verified", { email: "a@good.com" }, "a@good.com", false],
      ["that is verified in words only", { email: "a@good.com", email_verified: "true" }, "a@good.com", false],
      ["in the letters that it came in", { email: "A@GOOD.com", email_verified: true }, "A@GOOD.com", true],
      ["with two @ as unverified", { email: "a@evil@good.com", email_verified: true }, "a@evil@good.com", false],
      ["with a homoglyph as unverified", { email: "a@g\u043eod.com", email_verified: true }, "a@g\u043eod.com", false],
      ["with a dot at the end as unverified", { email: "a@good.com.", email_verified: true }, "a@good.com.", false],
      ["with a space as unverified", { email: "a @good.com", email_verified: true }, "a @good.com", false],
      ["unless it is empty", { email: "", email_verified: true }, "", false],
      ["unless it is not a text", { email: ["a@good.com"], email_verified: true }, "", false],
      ["unless it is too long for one", { email: `${"a".repeat(255)}@good.com`, email_verified: true }, "", false],
    ];
    for (const [rule, claims, email, isVerified] of table) {
      it(rule, async () => {
        const exchange = await openWithWorkload();
        const { token } = await exchange.run({ identity }, await outsideToken(claims));
        const verified = await exchange.node.tokens.verify(token);
        assert.deepEqual([verified.email, verified.emailVerified], [email, isVerified]);
        assert.equal(verified.act.email, email === "" ? undefined : email);
      });
    }
  });
});

describe("a request", () => {
  it("X9: a request without an audience is rejected in the words that the SDK knows", async () => {
    const exchange = await openWithWorkload();
    const promise = exchange.run({ identity, aud: [] }, await outsideToken());
    await assert.rejects(promise, (error) => {
      assert.ok(error instanceof ApiError && error.code === Code.INVALID_ARGUMENT);
      assert.equal(error.message, "Audience must be specified");
      const { fieldViolations } = error.details[0]!.value as unknown as { fieldViolations: Record<string, string>[] };
      assert.deepEqual(
        fieldViolations.map(({ field, description }) => [field, description]),
        [["aud", "at least one audience is required"]],
      );
      return true;
    });
  });

  const table: readonly (readonly [rule: string, request: object, fields: readonly string[]])[] = [
    ["X9: for another host", { aud: ["https://other.example"] }, ["aud[0]"]],
    ["X9: for any host", { aud: ["*"] }, ["aud[0]"]],
    ["X9: for an empty audience", { aud: [""] }, ["aud[0]"]],
    ["X9: for one good audience and one bad", { aud: [issuer, `${issuer}/`] }, ["aud[1]"]],
    ["for too many audiences", { aud: Array(101).fill(issuer) }, ["aud"]],
    ["with a malformed identity", { identity: "me" }, ["identity"]],
    ["with a malformed identity provider", { identityProvider: "google" }, ["identity_provider"]],
    ["with a malformed scope", { scope: "/" }, ["scope"]],
    ["with malformed scopes", { scopes: ["", uid("org"), "org"] }, ["scopes[0]", "scopes[2]"]],
    ["with an unknown capability", { cap: ["groups.list", "groups.*"] }, ["cap[1]"]],
    [
      "that is wrong everywhere",
      { aud: ["*"], identity: "x", scope: "x", scopes: ["x"], cap: ["x"] },
      ["aud[0]", "identity", "scope", "scopes[0]", "cap[0]"],
    ],
  ];
  for (const [rule, request, fields] of table) {
    it(`${rule} is INVALID_ARGUMENT and names the fields`, async () => {
      const exchange = await openWithWorkload();
      const promise = exchange.run({ identity, ...request }, await outsideToken());
      await assert.rejects(promise, (error) => {
        assert.ok(error instanceof ApiError && error.code === Code.INVALID_ARGUMENT);
        const [detail] = error.details;
        assert.equal(detail?.schema, BadRequestSchema);
        const { fieldViolations } = (detail?.value ?? {}) as unknown as { fieldViolations: { field: string }[] };
        assert.deepEqual(
          fieldViolations.map(({ field }) => field),
          fields,
        );
        return true;
      });
      assert.deepEqual([exchange.outside.requests, exchange.touched], [[], []]);
    });
  }

  it("a request for an unknown identity provider is PERMISSION_DENIED", async () => {
    const exchange = await openWithWorkload();
    const promise = exchange.run({ identity, identityProvider: uid("org/idp") }, await outsideToken());
    assert.match(await outcome(promise), /^PERMISSION_DENIED .*identity provider/);
  });
});

describe("grants that the token shows", () => {
  const [foo, bar, other] = [uid("foo"), uid("foo/bar"), uid("other")];
  const [list, create, both] = ["groups.list", "groups.create", "*"].map((name) =>
    formatCapabilitySet(name === "*" ? capabilities("groups.list", "groups.create") : capabilities(name)),
  );
  const none = formatCapabilitySet(capabilities());

  async function openBound() {
    const exchange = await openWithWorkload();
    exchange.bound.set(
      identity,
      new Map([
        [foo, capabilities("groups.list")],
        [bar, capabilities("groups.create")],
      ]),
    );
    return exchange;
  }

  const table: readonly (readonly [rule: string, request: object, grants: object])[] = [
    ["without scopes, one for each group of a binding", {}, { [foo]: list, [bar]: create }],
    ["with a scope, what is bound there and above", { scopes: [bar] }, { [bar]: both }],
    ["with a scope, nothing of below", { scopes: [foo] }, { [foo]: list }],
    ["with scopes, one for each", { scopes: [foo, bar] }, { [foo]: list, [bar]: both }],
    ["with the deprecated scope", { scope: bar }, { [bar]: both }],
    ["with both, each once", { scope: bar, scopes: [bar, foo] }, { [bar]: both, [foo]: list }],
    ["with a scope below all bindings", { scopes: [uid("foo/bar/baz")] }, { [uid("foo/bar/baz")]: both }],
    ["with capabilities, no others", { cap: ["groups.list"] }, { [foo]: list, [bar]: none }],
    ["with both kinds", { scopes: [bar], cap: ["groups.create"] }, { [bar]: create }],
    ["with a capability that is not held, none", { scopes: [bar], cap: ["roles.list"] }, { [bar]: none }],
  ];
  for (const [rule, request, grants] of table) {
    it(rule, async () => {
      const exchange = await openBound();
      const { token } = await exchange.run({ identity, ...request }, await outsideToken());
      const claims = JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString());
      assert.deepEqual(claims.cap, grants);
    });
  }

  it("the token has the requested narrowing", async () => {
    const exchange = await openBound();
    const { token } = await exchange.run({ identity, scopes: [bar, bar], cap: ["groups.list"] }, await outsideToken());
    const { narrowing } = await exchange.node.tokens.verify(token);
    assert.deepEqual(narrowing, { scopes: [bar], capabilities: capabilities("groups.list") });
  });

  it("X3: a scope where nothing is held is PERMISSION_DENIED", async () => {
    const exchange = await openBound();
    const promise = exchange.run({ identity, scopes: [foo, other] }, await outsideToken());
    await assert.rejects(promise, { code: Code.PERMISSION_DENIED, metadata: { scope: other } });
  });

  it("a scope above all bindings narrows nothing away and shows nothing", async () => {
    const exchange = await openWithWorkload();
    exchange.bound.set(identity, new Map([[bar, capabilities("groups.list")]]));
    const { token } = await exchange.run({ identity, scopes: [foo] }, await outsideToken());
    const claims = JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString());
    assert.deepEqual(claims.cap, { [foo]: none });
  });
});
