import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { describe, it } from "node:test";
import { calculateJwkThumbprint } from "jose";
import { type KeyAlgorithm, type KeyRecord, newKey } from "../../src/authn/signing-key.ts";
import { memoryKeyStore, openNode, startTime } from "./token-fixtures.ts";

/** Returns a record with the right kid for a key with any other fault. */
async function recordOf(privateKey: KeyObject, algorithm: KeyAlgorithm): Promise<KeyRecord> {
  const jwk = privateKey.export({ format: "jwk" });
  const kid = await calculateJwkThumbprint(jwk as Parameters<typeof calculateJwkThumbprint>[0]);
  return { kid, algorithm, privateJwk: JSON.stringify(jwk), createTime: startTime, retireTime: undefined };
}

describe("newKey", () => {
  const kinds: [KeyAlgorithm, object][] = [
    ["RS256", { kty: "RSA", e: "AQAB", bytes: 256 }],
    ["ES256", { kty: "EC", crv: "P-256", bytes: 32 }],
  ];
  for (const [algorithm, expected] of kinds) {
    it(`makes ${algorithm} keys of the size that RFC 7518 asks for, named by their RFC 7638 thumbprint`, async () => {
      const record = await newKey(algorithm, startTime);
      const { kty, e, crv, n, x, d } = JSON.parse(record.privateJwk);
      const bytes = Buffer.from(n ?? x, "base64url").length;
      assert.deepEqual({ kty, ...(e && { e }), ...(crv && { crv }), bytes }, expected);
      assert.equal(typeof d, "string");
      assert.equal(record.kid, await calculateJwkThumbprint(JSON.parse(record.privateJwk)));
      assert.deepEqual(
        { algorithm: record.algorithm, createTime: record.createTime, retireTime: record.retireTime },
        { algorithm, createTime: startTime, retireTime: undefined },
      );
    });
  }
});

/** Returns a key with the size, though not the primes, of RSA-16384: to find real ones would take minutes. */
function hugeRecord(): KeyRecord {
  const text = (number: bigint) => Buffer.from(number.toString(16), "hex").toString("base64url");
  const p = 2n ** 8192n - 1n;
  const q = 2n ** 8192n - 3n;
  const members = { n: p * q, d: p * q - 2n, p, q, dp: p - 2n, dq: q - 2n, qi: q - 4n };
  const numbers = Object.fromEntries(Object.entries(members).map(([name, number]) => [name, text(number)]));
  const privateJwk = JSON.stringify({ kty: "RSA", e: "AQAB", ...numbers });
  return { kid: "huge", algorithm: "RS256", privateJwk, createTime: startTime, retireTime: undefined };
}

describe("a key that must not be used stops the start", async () => {
  const rsa = (modulusLength: number) => generateKeyPairSync("rsa", { modulusLength }).privateKey;
  const ec = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve }).privateKey;
  const good = await newKey("ES256", startTime);
  const published = {
    kty: "EC",
    crv: "P-256",
    d: "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI",
    x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
    y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
  };
  const cases: [name: string, record: KeyRecord, rule: RegExp][] = [
    ["RFC 7518 §3.3: RSA below 2048 bits", await recordOf(rsa(1024), "RS256"), /RSA key of 2048 to 8192 bits/],
    ["D8: RSA of 16384 bits", hugeRecord(), /RSA key of 2048 to 8192 bits/],
    ["RS256 with a key for ES256", { ...good, algorithm: "RS256" }, /RSA key of 2048 to 8192 bits/],
    ["ES256 on another curve", await recordOf(ec("P-384"), "ES256"), /the curve P-256/],
    ["ES256 with an RSA key", await recordOf(rsa(2048), "ES256"), /the curve P-256/],
    ["a kid that is not the thumbprint", { ...good, kid: "emulator" }, /key emulator: .* RFC 7638/],
    [
      "O5: a key that everyone knows",
      {
        ...good,
        kid: await calculateJwkThumbprint(published),
        privateJwk: JSON.stringify(published),
      },
      /published \(RFC 7515 appendix A\.3\)/,
    ],
    [
      "a public key",
      { ...good, privateJwk: JSON.stringify({ ...JSON.parse(good.privateJwk), d: undefined }) },
      /private/,
    ],
    ["text that is not JSON", { ...good, privateJwk: "secret{" }, /not a private JWK/],
  ];
  for (const [name, record, rule] of cases) {
    it(name, async () => {
      await assert.rejects(openNode("ES256", { store: memoryKeyStore([record]) }), (error: Error) => {
        assert.match(error.message, rule);
        assert.ok(error.message.startsWith(`signing key ${record.kid}: `));
        // L1: the private key appears nowhere in what may be logged.
        assert.ok(!`${error.stack} ${String(error.cause)}`.includes("secret"));
        return true;
      });
    });
  }

  it("a retired key is not checked", async () => {
    const retired = { ...good, kid: "emulator", retireTime: startTime };
    const { keys } = await openNode("ES256", { store: memoryKeyStore([retired]) });
    assert.equal(keys.known("emulator"), undefined);
  });

  it("an unusable key that appears later leaves the keys unchanged", async () => {
    const store = memoryKeyStore([good]);
    const { keys } = await openNode("ES256", { store });
    store.records.push({ ...(await newKey("ES256", startTime + 1)), kid: "emulator" });
    await assert.rejects(keys.refresh(), /emulator/);
    assert.equal((await keys.signing("others")).kid, good.kid);
  });

  it("T13: one kid for two algorithms stops the start", async () => {
    const store = memoryKeyStore([good]);
    const { keys } = await openNode("ES256", { store });
    store.records = [{ ...good, algorithm: "RS256" }];
    await assert.rejects(keys.refresh(), /RSA key of 2048 to 8192 bits/);
    assert.equal(keys.known(good.kid)?.algorithm, "ES256");
  });
});
