// The size of a message in an envelope.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openEnvelope, wrap } from "../../../src/transport/unary/envelope.ts";

const limit = 64;

describe("the envelope of a message", () => {
  it("a message of exactly the limit is accepted, and a longer one is rejected", () => {
    assert.equal(openEnvelope(wrap(0, Buffer.alloc(limit)), limit, false).bytes.length, limit);
    assert.throws(() => openEnvelope(wrap(0, Buffer.alloc(limit + 1)), limit, false), /larger than 64 bytes/);
  });

  it("a message that ends before its announced length is rejected", () => {
    assert.throws(() => openEnvelope(wrap(0, Buffer.alloc(8)).subarray(0, 12), limit, false), /incomplete envelope/);
  });
});
