// Secrets at rest: what opens, what does not, and what is seen of it.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { newSeals, SealError } from "../../../src/storage/installation/encryption.ts";

const [first, second] = [randomBytes(32), randomBytes(32)];
const place = { kind: "things", uid: "a/b", column: "secret" };

describe("seals", () => {
  it("open what they sealed, and show nothing of it", () => {
    const seals = newSeals([first]);
    for (const text of ["", "s3cret", "ключ\n", "x".repeat(10_000)]) {
      const stored = seals.seal(place, text);
      assert.equal(seals.open(place, stored), text);
      if (text !== "") assert.ok(!stored.includes(text) && !stored.includes(Buffer.from(text).toString("base64url")));
    }
  });

  it("the same secret is never sealed into the same text", () => {
    const seals = newSeals([first]);
    assert.notEqual(seals.seal(place, "s"), seals.seal(place, "s"));
  });

  const elsewhere = [
    { ...place, kind: "others" },
    { ...place, uid: "a/c" },
    { ...place, column: "other" },
    // Joined without delimiters it would be the same place.
    { kind: "things", uid: "a/b/secret", column: "" },
  ];
  for (const other of elsewhere) {
    it(`a secret moved to ${Object.values(other).join(" ")} does not open`, () => {
      const seals = newSeals([first]);
      assert.throws(() => seals.open(other, seals.seal(place, "s")), { name: "SealError", message: /was altered/ });
    });
  }

  it("no byte can be changed, and none left out", () => {
    const seals = newSeals([first]);
    const stored = seals.seal(place, "s3cret");
    const start = stored.lastIndexOf(":") + 1;
    const box = Buffer.from(stored.slice(start), "base64url");
    for (let i = 0; i < box.length; i++) {
      const changed = Buffer.from(box);
      changed[i]! ^= 1;
      assert.throws(() => seals.open(place, stored.slice(0, start) + changed.toString("base64url")), SealError);
      const cut = box.subarray(0, i).toString("base64url");
      assert.throws(() => seals.open(place, stored.slice(0, start) + cut), SealError);
    }
  });

  it("the first key seals, all keys open, and what an older one sealed is not current", () => {
    const old = newSeals([first]).seal(place, "s");
    const both = newSeals([second, first]);
    assert.equal(both.open(place, old), "s");
    assert.equal(both.isCurrent(old), false);
    const anew = both.seal(place, "s");
    assert.equal(both.isCurrent(anew), true);
    assert.equal(newSeals([second]).open(place, anew), "s");
  });

  it("a key that is not given is named, and so is the place", () => {
    const stored = newSeals([first]).seal(place, "s");
    const message = `things a/b: secret is sealed with the key ${newSeals([first]).keyId}, which secrets-key does not have`;
    for (const keys of [[], [second]]) assert.throws(() => newSeals(keys).open(place, stored), { message });
  });

  it("without a key all stays as it is, and what was stored so is read, but is not current once there is a key", () => {
    const open = newSeals([]);
    assert.deepEqual(
      [open.keyId, open.seal(place, "s"), open.open(place, "s"), open.isCurrent("s")],
      [undefined, "s", "s", true],
    );
    const sealed = newSeals([first]);
    assert.deepEqual([sealed.open(place, "s"), sealed.isCurrent("s")], ["s", false]);
    assert.equal(open.isCurrent(sealed.seal(place, "s")), false);
  });

  it("without a key nothing is stored that would be taken for sealed", () => {
    assert.throws(() => newSeals([]).seal(place, newSeals([first]).seal(place, "s")), SealError);
  });
});
