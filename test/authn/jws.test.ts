import assert from "node:assert/strict";
import { createPublicKey } from "node:crypto";
import { describe, it } from "node:test";
import { EncryptJWT, exportJWK, generateKeyPair, importJWK, SignJWT, UnsecuredJWT } from "jose";
import type { KeyAlgorithm } from "../../src/authn/signing-key.ts";
import type { TokenErrorReason } from "../../src/authn/token-error.ts";
import {
  forge,
  goodClaims,
  headerOf,
  type Node,
  openNode,
  plainRequest,
  reasonOf,
  recordOf,
  segment,
  startSeconds,
} from "./token-fixtures.ts";

const iat = startSeconds;
const algorithms: KeyAlgorithm[] = ["RS256", "ES256"];

/** Returns a token that differs from a good one in the text of its claims. */
function withText(node: Node, from: string, to: string): string {
  const text = JSON.stringify(goodClaims());
  assert.ok(text.includes(from));
  return forge(recordOf(node), headerOf(node), text.replace(from, to));
}

for (const algorithm of algorithms) {
  describe(`a good token by ${algorithm}`, async () => {
    const node = await openNode(algorithm);
    const { tokens } = node;

    it("T8: a token is rejected when it is cut by any number of characters, or spelt in another way", async () => {
      const { token } = await tokens.issue(plainRequest);
      assert.equal(await reasonOf(node, token), "accepted");
      const cut = Array.from({ length: token.length - 1 }, (_, i) => token.slice(0, -1 - i));
      const appended = ["A", "AAAA", "=", "==", ".", " ", "\n", "\0", "é", ".AAAA"].map((more) => token + more);
      const dots = [...token].flatMap((character, i) => (character === "." ? [i] : []));
      const inside = [1, ...dots, token.length - 1].flatMap((at) =>
        [" ", "\n", "=", "+", "/"].map((more) => token.slice(0, at) + more + token.slice(at)),
      );
      for (const wrong of [...cut, ...appended, ...inside, ` ${token}`, `Bearer ${token}`]) {
        const reason = await reasonOf(node, wrong);
        assert.ok(reason === "malformed" || reason === "signature", `${reason}: ${wrong}`);
      }
    });

    it("T8: a token is rejected if its signature has unused bits that are not zero", async () => {
      const { token } = await tokens.issue(plainRequest);
      const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
      const last = alphabet.indexOf(token.at(-1) ?? "");
      // 64 and 256 bytes both leave four bits of the last character unused.
      assert.equal(last % 16, 0);
      const wrong = token.slice(0, -1) + alphabet[last + 1];
      assert.deepEqual(Buffer.from(wrong, "base64url"), Buffer.from(token, "base64url"));
      assert.equal(await reasonOf(node, wrong), "malformed");
    });

    it("T1: a token is rejected if its signature is empty, zero or in DER", async () => {
      const { token } = await tokens.issue(plainRequest);
      const unsigned = token.slice(0, token.lastIndexOf(".") + 1);
      const der = Buffer.concat([Buffer.from("30440220", "hex"), Buffer.alloc(32, 1), Buffer.from("0220", "hex")]);
      for (const signature of [[], Buffer.alloc(64), Buffer.alloc(256), Buffer.concat([der, Buffer.alloc(32, 1)])]) {
        assert.equal(await reasonOf(node, unsigned + Buffer.from(signature).toString("base64url")), "signature");
      }
    });
  });
}

describe("the text of a token is rejected", async () => {
  const node = await openNode("ES256");
  const record = recordOf(node);
  const header = JSON.stringify(headerOf(node));
  const payload = JSON.stringify(goodClaims());
  const cases: [name: string, token: string][] = [
    ["T11: sub twice", withText(node, `"sub":`, `"sub":"${"0".repeat(40)}","sub":`)],
    ["T11: sub twice, the second time escaped", withText(node, `"iat"`, `"s\\u0075b":"x","iat"`)],
    ["T11: act.sub twice", withText(node, `"sub":"workload"`, `"sub":"a","sub":"workload"`)],
    ["T11: alg twice", forge(record, header.replace("{", '{"alg":"none",'), payload)],
    ["T6: exp 1e308", withText(node, `"exp":${iat + 3600}`, `"exp":1e308`)],
    ["a number in another spelling", withText(node, `"exp":${iat + 3600}`, `"exp":${iat + 3600}.0`)],
    ["white space in the claims", withText(node, `"iat"`, ` "iat"`)],
    ["white space in the header", forge(record, ` ${header}`, payload)],
    ["an escape that is not needed", withText(node, `"workload"`, `"\\u0077orkload"`)],
    ["a byte order mark", forge(record, header, `\ufeff${payload}`)],
    ["bytes that are not UTF-8", forge(record, header, Buffer.from(payload.replace("workload", "\xff"), "latin1"))],
    ["claims that are an array", forge(record, header, "[]")],
    ["claims that are null", forge(record, header, "null")],
    ["claims that are a string", forge(record, header, '"x"')],
    ["claims that are not JSON", forge(record, header, "iss")],
    ["no claims", forge(record, header, "")],
    ["a header that is an array", forge(record, "[]", payload)],
    ["no header", forge(record, "", payload)],
    ["nesting that never ends", forge(record, header, `{"a":${"[".repeat(11_000)}`)],
    ["T7: a refresh token", Buffer.from(JSON.stringify({ exp: iat + 3600, refresh: "x" })).toString("base64")],
    ["T7: an invite code", "q".repeat(43)],
    ["nothing", ""],
    ["T9: 1 MiB of dots", ".".repeat(1024 * 1024)],
    ["T9: 100,000 segments", "e30.".repeat(100_000)],
    ["T9: a header of 1 MiB", `${"A".repeat(1024 * 1024)}.e30.AA`],
    ["T9: dots up to the limit", ".".repeat(16 * 1024)],
  ];
  for (const [name, token] of cases) {
    it(name, async () => assert.equal(await reasonOf(node, token), "malformed"));
  }

  it("claims nested as deep as fits are rejected like any others", async () => {
    const token = forge(record, header, `{"a":${"[".repeat(5500)}${"]".repeat(5500)}}`);
    assert.match(await reasonOf(node, token), /^(malformed|issuer)$/);
  });
});

describe("the header of a token is rejected", async () => {
  const node = await openNode("RS256");
  const record = recordOf(node);
  const privateKey = await importJWK(JSON.parse(record.privateJwk), "RS256");
  const publicPem = createPublicKey({ key: JSON.parse(record.privateJwk), format: "jwk" }).export({
    format: "pem",
    type: "spki",
  });
  const stranger = await generateKeyPair("RS256", { extractable: true });
  const strangerJwk = await exportJWK(stranger.publicKey);
  const sign = (header: object, key: Parameters<SignJWT["sign"]>[0] = privateKey) =>
    new SignJWT(goodClaims()).setProtectedHeader({ alg: "RS256", ...headerOf(node), ...header }).sign(key);
  const raw = (header: object) => forge(record, headerOf(node, header), goodClaims());
  const unsecured = new UnsecuredJWT(goodClaims()).encode();
  const password = new TextEncoder().encode("password");

  const cases: [name: string, reason: TokenErrorReason, token: string][] = [
    ["T1: alg none, by a library", "algorithm", unsecured],
    ["T1: alg none, kid and signature in place", "algorithm", raw({ alg: "none" })],
    ["T1: alg None", "algorithm", raw({ alg: "None" })],
    ["T1: alg nOnE", "algorithm", raw({ alg: "nOnE" })],
    ["alg absent", "algorithm", raw({ alg: undefined })],
    ["alg an array", "algorithm", raw({ alg: ["RS256"] })],
    ["alg in lower case", "algorithm", raw({ alg: "rs256" })],
    ["T2: HS256 by our public key as PEM", "algorithm", await sign({ alg: "HS256" }, Buffer.from(publicPem))],
    ["RS512 by our own key", "algorithm", raw({ alg: "RS512" })],
    ["PS256 by our own key", "algorithm", raw({ alg: "PS256" })],
    ["D8: ES512", "algorithm", raw({ alg: "ES512" })],
    ["T13: the other algorithm that we know, with the kid of a key for this one", "algorithm", raw({ alg: "ES256" })],
    ["T12: alg unknown, kid unknown too", "algorithm", raw({ alg: "HS256", kid: "random" })],
    ["T3: jwk with the key that signed", "header", await sign({ jwk: strangerJwk }, stranger.privateKey)],
    ["T3: jwk with the key that signed, by ours", "header", await sign({ jwk: strangerJwk })],
    ["T3: jku naming a foreign key set", "header", await sign({ jku: "http://127.0.0.1:9/jwks" })],
    ["T3: x5u", "header", await sign({ x5u: "http://127.0.0.1:9/cert" })],
    ["T3: x5c", "header", await sign({ x5c: ["AAAA"] })],
    ["T10: zip", "header", raw({ zip: "DEF" })],
    ["crit", "header", raw({ crit: ["b64"], b64: false })],
    ["kid absent", "header", raw({ kid: undefined })],
    ["kid a number", "header", raw({ kid: 1 })],
    ["typ absent", "header", raw({ typ: undefined })],
    ["T7: typ of another kind of token", "header", raw({ typ: "logout+jwt" })],
    ["T12: kid of no key", "unknown-key", raw({ kid: "random" })],
    ["kid empty", "unknown-key", raw({ kid: "" })],
    ["a stranger's signature under our kid", "signature", await sign({}, stranger.privateKey)],
    ["T10: JWE with PBES2", "malformed", await encrypted({ alg: "PBES2-HS256+A128KW", p2c: 2 ** 31 }, password)],
    ["T10: JWE with zip DEF", "malformed", await encrypted({ alg: "dir", zip: "DEF" }, new Uint8Array(32))],
  ];
  for (const [name, reason, token] of cases) {
    it(name, async () => assert.equal(await reasonOf(node, token), reason));
  }

  it("O5: a token signed by a well-known key is rejected", async () => {
    const known = { kty: "EC", crv: "P-256", x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU" };
    const jwk = { ...known, y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0" };
    const privateJwk = JSON.stringify({ ...jwk, d: "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI" });
    const kid = "oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U";
    const token = forge({ ...record, privateJwk }, { alg: "ES256", kid, typ: "JWT" }, goodClaims());
    assert.equal(await reasonOf(node, token), "unknown-key");
  });

  it("a valid token by the same signer is accepted", async () => {
    assert.equal(await reasonOf(node, await sign({})), "accepted");
    assert.equal(await reasonOf(node, raw({})), "accepted");
  });
});

/** A JWE by a library, its header then replaced: no library would work through the iterations that it asks for. */
async function encrypted(header: { alg: string; p2c?: number; zip?: string }, key: Uint8Array): Promise<string> {
  const full = { enc: "A256GCM", ...header };
  const token = await new EncryptJWT(goodClaims()).setProtectedHeader({ alg: full.alg, enc: full.enc }).encrypt(key);
  return [segment(full), ...token.split(".").slice(1)].join(".");
}
