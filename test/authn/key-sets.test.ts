import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { maxKeys, parseKeySet, selectKeys } from "../../src/authn/key-sets.ts";
import { keyPair } from "../sts/outside.ts";

const [es256, rs256] = [keyPair("ES256"), keyPair("RS256")];

describe("a key set", () => {
  const wide = (bits: number) => ({ kty: "RSA", n: Buffer.alloc(bits / 8, 0xff).toString("base64url"), e: "AQAB" });
  const table: readonly (readonly [rule: string, alg: string, jwk: unknown])[] = [
    ["J8: an oct key", "HS256", { kty: "oct", k: "c2VjcmV0" }],
    ["J8: an RSA key of 512 bits", "RS256", wide(512)],
    ["J8: an RSA key of 1024 bits", "RS256", wide(1024)],
    ["D8: an RSA key of 16384 bits", "RS256", wide(16384)],
    ["an RSA key with a long exponent", "RS256", { ...wide(2048), e: wide(256).n }],
    ["an RSA key with the exponent 1", "RS256", { ...wide(2048), e: "AQ" }],
    ["J8: a point off the curve", "ES256", { ...es256.jwk, y: es256.jwk.x }],
    ["J8: a key for encryption", "ES256", { ...es256.jwk, use: "enc" }],
    ["J8: a key for other operations", "ES256", { ...es256.jwk, key_ops: ["sign"] }],
    ["D8: a curve that is not accepted", "ES512", keyPair("ES512").jwk],
    ["an algorithm that is not accepted", "PS512", { ...rs256.jwk, alg: "PS512" }],
    ["an algorithm of another kind of key", "ES256", { ...rs256.jwk, alg: "ES256" }],
    ["no key", "ES256", "key"],
    ["null", "ES256", null],
  ];
  for (const [rule, alg, jwk] of table) {
    it(`leaves out ${rule}, and keeps the others`, () => {
      const keys = parseKeySet({ keys: [jwk, keyPair("EdDSA").jwk] });
      assert.deepEqual(
        keys?.map(({ kid }) => kid),
        ["EdDSA-1"],
      );
      assert.deepEqual(selectKeys(keys ?? [], { alg, kid: undefined }), []);
    });
  }

  it("keeps RSA keys of 2048 to 8192 bits, and private keys by their public half", () => {
    const jwk = es256.privateKey.export({ format: "jwk" });
    const keys = parseKeySet({ keys: [wide(2048), wide(8192), jwk] }) ?? [];
    assert.deepEqual(
      keys.map(({ key }) => key.type),
      ["public", "public", "public"],
    );
  });

  it("T13: has two keys with one kid, each for its own algorithm", () => {
    const keys = parseKeySet({ keys: [es256.jwk, { ...rs256.jwk, kid: es256.kid }] }) ?? [];
    const types = ["ES256", "RS256", "PS256"].map((alg) =>
      selectKeys(keys, { alg, kid: es256.kid }).map((key) => key.asymmetricKeyType),
    );
    assert.deepEqual(types, [["ec"], ["rsa"], []]);
  });

  it("offers at most ten keys to a token without a kid", () => {
    const keys = parseKeySet({
      keys: Array.from({ length: maxKeys }, (_, index) => ({ ...es256.jwk, kid: `${index}` })),
    });
    assert.equal(selectKeys(keys ?? [], { alg: "ES256", kid: undefined }).length, 10);
  });
});
