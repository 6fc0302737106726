import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TokenErrorReason } from "../../src/authn/token-error.ts";
import { issuer, openNode, reasonOf, startSeconds, subject, testClock, withClaims } from "./token-fixtures.ts";

const iat = startSeconds;
describe("a token is accepted", async () => {
  const node = await openNode("RS256");
  const cases: [name: string, changes: object][] = [
    ["as we write it", {}],
    ["with several audiences, one of them ours", { aud: ["registry.example", issuer] }],
    ["with an iat within the skew of the clocks", { iat: iat + 30, exp: iat + 3600 }],
    ["with an nbf within the skew of the clocks", { nbf: iat + 30 }],
    ["in its last second", { iat: iat - 3599, exp: iat + 1 }],
    ["without email", { email: undefined }],
    ["with a claim that only clients read", { upstream: { name: "x" } }],
  ];
  for (const [name, changes] of cases) {
    it(name, async () => assert.equal(await reasonOf(node, withClaims(node, changes)), "accepted"));
  }
});

describe("the claims of a token are rejected", async () => {
  const node = await openNode("RS256");
  const cases: [name: string, reason: TokenErrorReason, changes: object][] = [
    ["T4: aud wrong", "audience", { aud: "https://other.example" }],
    ["T4: aud absent", "audience", { aud: undefined }],
    ["T4: aud empty", "audience", { aud: "" }],
    ["T4: aud an empty array", "audience", { aud: [] }],
    ["T4: aud a prefix of ours", "audience", { aud: [issuer.slice(0, -1)] }],
    ["T4: aud ours and more", "audience", { aud: [`${issuer}/`, `${issuer}.evil.example`] }],
    ["T4: aud without the scheme", "audience", { aud: "gatehouse.example" }],
    ["T4: aud an object", "audience", { aud: { [issuer]: issuer } }],
    ["T4: aud with a member that is not a string", "audience", { aud: [issuer, 1] }],
    ["T5: iss wrong", "issuer", { iss: "https://other.example" }],
    ["T5: iss absent", "issuer", { iss: undefined }],
    ["T5: iss with a trailing slash", "issuer", { iss: `${issuer}/` }],
    ["T5: iss with the host in upper case", "issuer", { iss: "https://GATEHOUSE.example" }],
    ["T5: iss an array", "issuer", { iss: [issuer] }],
    ["T6: exp past", "expired", { iat: iat - 3600, exp: iat - 1 }],
    ["T6: exp now, no leeway", "expired", { iat: iat - 3600, exp: iat }],
    ["T6: exp absent", "claims", { exp: undefined }],
    ["T6: exp a string", "claims", { exp: String(iat + 3600) }],
    ["T6: exp negative", "claims", { exp: -1 }],
    ["T6: exp a fraction", "claims", { exp: iat + 0.5 }],
    ["T6: exp null", "claims", { exp: null }],
    ["T6: exp beyond what integers hold", "claims", { exp: 1e300 }],
    ["T6: exp more than an hour after iat", "claims", { exp: iat + 3601 }],
    ["T6: exp before iat", "claims", { iat: iat + 20, exp: iat + 10 }],
    ["T6: nbf beyond the skew", "not-yet-valid", { nbf: iat + 31 }],
    ["T6: nbf a string", "claims", { nbf: "0" }],
    ["T6: iat beyond the skew", "not-yet-valid", { iat: iat + 31, exp: iat + 3600 }],
    ["T6: iat beyond the skew, nbf not", "not-yet-valid", { iat: iat + 31, nbf: iat, exp: iat + 3600 }],
    ["T6: iat a string", "claims", { iat: String(iat), nbf: iat }],
    ["T6: iat absent", "claims", { iat: undefined }],
    ["T11: NUL in sub", "claims", { sub: `${subject}\0` }],
    ["T11: unpaired surrogate in sub", "claims", { sub: `${subject}\ud800` }],
    ["T11: unpaired surrogate in act", "claims", { act: { sub: "\udfff" } }],
    ["T11: unpaired surrogate in email", "claims", { email: "\ud800" }],
    ["T7: sub that is not a uid, as in an id_token", "claims", { sub: "user@example.com" }],
    ["sub absent", "claims", { sub: undefined }],
    ["sub an array", "claims", { sub: [subject] }],
    ["sub with a newline", "claims", { sub: `${subject}\n` }],
    ["act absent", "claims", { act: undefined }],
    ["act a string", "claims", { act: "x" }],
    ["act an array", "claims", { act: ["x"] }],
    ["act with an object in it", "claims", { act: { sub: {} } }],
    ["email a number", "claims", { email: 1 }],
    ["email_verified a string", "claims", { email: "a@b", email_verified: "true" }],
    ["a narrowing that is null", "claims", { gatehouse: null }],
    ["a narrowing that is an array", "claims", { gatehouse: [] }],
    ["a narrowing of a kind that is not known", "claims", { gatehouse: { scopes: [subject], until: 1 } }],
    ["a narrowing to a scope that is not a uid", "claims", { gatehouse: { scopes: ["*"] } }],
    ["a narrowing to a scope that is a string", "claims", { gatehouse: { scopes: subject } }],
    ["a narrowing to capabilities that are not a set", "claims", { gatehouse: { capabilities: "all" } }],
    ["a narrowing to capabilities by number", "claims", { gatehouse: { capabilities: [1] } }],
  ];
  for (const [name, reason, changes] of cases) {
    it(name, async () => assert.equal(await reasonOf(node, withClaims(node, changes)), reason));
  }
});

describe("the expiry of a token", async () => {
  const clock = testClock();
  const node = await openNode("ES256", { clock });
  const expiring = (email: string) => withClaims(node, { iat: iat - 3599, exp: iat + 1, email });

  it("T6: a token is rejected outside of its lifetime, to the millisecond", async () => {
    const exp = (iat + 1) * 1000;
    clock.advance(exp - 1 - clock.read());
    assert.equal(await reasonOf(node, expiring("last@example.com")), "accepted");
    clock.advance(1);
    // Seen before, and never seen.
    for (const email of ["last@example.com", "other@example.com"])
      assert.equal(await reasonOf(node, expiring(email)), "expired");
  });
});

describe("the length of a token", async () => {
  const node = await openNode("ES256");
  const withLength = (length: number) => withClaims(node, { upstream: { name: "x".repeat(length) } });

  it("T9: a token of up to 16 KiB is read", async () => {
    const token = withLength(11_000);
    assert.ok(token.length <= 16 * 1024);
    assert.equal(await reasonOf(node, token), "accepted");
  });

  it("T9: a longer token is rejected, even with a valid signature", async () => {
    const token = withLength(12_000);
    assert.ok(token.length > 16 * 1024);
    assert.equal(await reasonOf(node, token), "malformed");
  });
});
