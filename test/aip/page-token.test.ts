import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  formatPageToken,
  isExpired,
  type PageToken,
  pageTokenLifetimeMs,
  parsePageToken,
} from "../../src/aip/page-token.ts";
import { limits } from "../../src/server/limits.ts";
import { maxSortPrefix, sortPrefix } from "../../src/storage/schema/ordered-text.ts";

const key = Buffer.alloc(32, 7);
const token: PageToken = { issuedAt: 1_000_000, query: "q", order: "name desc", value: "b", uid: "u" };

describe("page token (AIP-158)", () => {
  it("a page token decodes to its content", () => {
    for (const value of ["text", "ünïcode", 12345]) {
      assert.deepEqual(parsePageToken(key, formatPageToken(key, { ...token, value })), { ...token, value });
    }
  });

  it("P2: every single-bit flip is rejected", () => {
    const bytes = Buffer.from(formatPageToken(key, token), "base64url");
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes);
      flipped[bit >>> 3]! ^= 1 << (bit & 7);
      assert.equal(parsePageToken(key, flipped.toString("base64url")), undefined);
    }
  });

  it("P2: every truncation and every other spelling is rejected", () => {
    const text = formatPageToken(key, token);
    for (let length = 0; length < text.length; length++)
      assert.equal(parsePageToken(key, text.slice(0, length)), undefined);
    for (const other of [`${text}=`, ` ${text}`, `${text}\n`, text.replaceAll("-", "+"), `${text}A`]) {
      if (other !== text) assert.equal(parsePageToken(key, other), undefined, other);
    }
  });

  it("P1: a page token of another key is rejected", () => {
    assert.equal(parsePageToken(Buffer.alloc(32, 8), formatPageToken(key, token)), undefined);
  });

  it("P4: tokens of another shape and very long ones are rejected", () => {
    for (const text of ["", "e30", Buffer.from('{"uid":"x"}').toString("base64url"), "A".repeat(5000)]) {
      assert.equal(parsePageToken(key, text), undefined);
    }
  });

  it("a page token with the longest uid and the longest ordered value is accepted", () => {
    // The mapping of an identity provider in the deepest group, and characters that JSON escapes.
    const uid = "a".repeat(40) + "/0123456789abcdef".repeat(limits.groupDepth + 1);
    const longest = { issuedAt: Date.UTC(2999), query: "q".repeat(22), order: "aliasText desc", uid };
    for (const character of ["\u0001", "\u2028", "😀"]) {
      const value = sortPrefix(character.repeat(10_000));
      assert.equal([...value].length, maxSortPrefix);
      const made = { ...longest, value };
      assert.deepEqual(parsePageToken(key, formatPageToken(key, made)), made);
    }
  });

  it("a page token expires after 3 days", () => {
    assert.equal(isExpired(token, token.issuedAt + pageTokenLifetimeMs - 1), false);
    assert.equal(isExpired(token, token.issuedAt + pageTokenLifetimeMs), true);
  });
});
