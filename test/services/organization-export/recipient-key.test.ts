import assert from "node:assert/strict";
import { createPublicKey } from "node:crypto";
import { it } from "node:test";
import { parseRecipientKey } from "../../../src/services/organization-export/recipient-key.ts";

/** Returns a public RSA key of this size. Its modulus has no prime factors of half its length: those take long to find. */
function rsaKey(bits: number): string {
  const modulus = Buffer.alloc(bits / 8, 0xff).toString("base64url");
  const key = createPublicKey({ key: { kty: "RSA", n: modulus, e: "AQAB" }, format: "jwk" });
  return key.export({ type: "spki", format: "pem" }).toString();
}

it("RSA keys of recipients have 2048 to 8192 bits, both included", () => {
  for (const bits of [2048, 8192]) assert.equal(parseRecipientKey(rsaKey(bits)).algorithm, "RSA-OAEP-256");
  for (const bits of [2040, 8200]) assert.throws(() => parseRecipientKey(rsaKey(bits)), /it must have 2048 to 8192/);
});
