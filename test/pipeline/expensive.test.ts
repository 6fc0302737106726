import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { allExpensive, expensive, isExpensive } from "../../src/pipeline/expensive.ts";

describe("the declaration of expensive calls", () => {
  const request = (size: number) => ({ $typeName: "test", size });

  it("a handler without a declaration has no expensive calls", () => {
    assert.equal(isExpensive(() => {})(request(9)), false);
  });

  it("a declared handler is returned, and all of its calls are expensive", () => {
    const handler = () => "response";
    assert.equal(expensive(handler), handler);
    assert.equal(isExpensive(handler)(request(0)), true);
  });

  it("a declaration can depend on the request", () => {
    const handler = expensive(
      () => "response",
      ({ size }: { size: number }) => size > 5,
    );
    assert.deepEqual(
      [4, 6].map((size) => isExpensive(handler)(request(size))),
      [false, true],
    );
  });

  it("all methods of a service can be declared at once", () => {
    const handlers = allExpensive({ a: () => 1, b: () => 2 });
    assert.ok(Object.values(handlers).every((handler) => isExpensive(handler)(request(0))));
  });
});
