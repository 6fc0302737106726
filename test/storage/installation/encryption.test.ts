// Encryption at rest: what decrypts, what does not, and what a ciphertext reveals.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { DecryptionError, newEncryption } from "../../../src/storage/installation/encryption.ts";

const [first, second] = [randomBytes(32), randomBytes(32)];
const place = { kind: "things", uid: "a/b", column: "secret" };

describe("encryption at rest", () => {
  it("decrypts what it encrypted, and reveals nothing of it", () => {
    const encryption = newEncryption([first]);
    for (const text of ["", "s3cret", "ключ\n", "x".repeat(10_000)]) {
      const stored = encryption.encrypt(place, text);
      assert.equal(encryption.decrypt(place, stored), text);
      if (text !== "") assert.ok(!stored.includes(text) && !stored.includes(Buffer.from(text).toString("base64url")));
    }
  });

  it("never encrypts a secret to the same text twice", () => {
    const encryption = newEncryption([first]);
    assert.notEqual(encryption.encrypt(place, "s"), encryption.encrypt(place, "s"));
  });

  const elsewhere = [
    { ...place, kind: "others" },
    { ...place, uid: "a/c" },
    { ...place, column: "other" },
    // Without delimiters this would be the same column.
    { kind: "things", uid: "a/b/secret", column: "" },
  ];
  for (const other of elsewhere) {
    it(`does not decrypt a secret moved to ${Object.values(other).join(" ")}`, () => {
      const encryption = newEncryption([first]);
      assert.throws(() => encryption.decrypt(other, encryption.encrypt(place, "s")), {
        name: "DecryptionError",
        message: /was altered/,
      });
    });
  }

  it("does not decrypt with a byte changed or missing", () => {
    const encryption = newEncryption([first]);
    const stored = encryption.encrypt(place, "s3cret");
    const start = stored.lastIndexOf(":") + 1;
    const box = Buffer.from(stored.slice(start), "base64url");
    for (let i = 0; i < box.length; i++) {
      const changed = Buffer.from(box);
      changed[i]! ^= 1;
      assert.throws(
        () => encryption.decrypt(place, stored.slice(0, start) + changed.toString("base64url")),
        DecryptionError,
      );
      const cut = box.subarray(0, i).toString("base64url");
      assert.throws(() => encryption.decrypt(place, stored.slice(0, start) + cut), DecryptionError);
    }
  });

  it("encrypts with the first key, decrypts with all, and tells whether a text uses the first", () => {
    const old = newEncryption([first]).encrypt(place, "s");
    const both = newEncryption([second, first]);
    assert.equal(both.decrypt(place, old), "s");
    assert.equal(both.usesCurrentKey(old), false);
    const renewed = both.encrypt(place, "s");
    assert.equal(both.usesCurrentKey(renewed), true);
    assert.equal(newEncryption([second]).decrypt(place, renewed), "s");
  });

  it("names a missing key, and the column", () => {
    const stored = newEncryption([first]).encrypt(place, "s");
    const message = `things a/b: secret is encrypted with the key ${newEncryption([first]).keyId}, which secrets-key does not have`;
    for (const keys of [[], [second]]) assert.throws(() => newEncryption(keys).decrypt(place, stored), { message });
  });

  it("a server without a key stores texts unencrypted, reads them later, and reports them once there is a key", () => {
    const open = newEncryption([]);
    assert.deepEqual(
      [open.keyId, open.encrypt(place, "s"), open.decrypt(place, "s"), open.usesCurrentKey("s")],
      [undefined, "s", "s", true],
    );
    const encrypting = newEncryption([first]);
    assert.deepEqual([encrypting.decrypt(place, "s"), encrypting.usesCurrentKey("s")], ["s", false]);
    assert.equal(open.usesCurrentKey(encrypting.encrypt(place, "s")), false);
  });

  it("a server without a key stores no text that looks encrypted", () => {
    assert.throws(() => newEncryption([]).encrypt(place, newEncryption([first]).encrypt(place, "s")), DecryptionError);
  });
});
