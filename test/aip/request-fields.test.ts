import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ApiError } from "../../src/aip/errors.ts";
import { parseOrderBy } from "../../src/aip/order-by.ts";
import { effectivePageSize, effectiveSkip } from "../../src/aip/pagination.ts";
import { newViolations } from "../../src/aip/violations.ts";

/** Runs the body and answers the message of the violations, or what the body answered. */
function outcome<T>(body: (violations: ReturnType<typeof newViolations>) => T): T | string {
  const violations = newViolations();
  const result = body(violations);
  try {
    violations.throwIfAny();
    return result;
  } catch (error) {
    assert.ok(error instanceof ApiError);
    return error.message;
  }
}

describe("page_size and skip (AIP-158)", () => {
  const sizes: [asked: number, effective: number | string][] = [
    [0, 50],
    [1, 1],
    [200, 200],
    [201, 200],
    [2 ** 31 - 1, 200],
    [-1, "Invalid argument: page_size: must not be negative"],
  ];
  for (const [asked, effective] of sizes) {
    it(`page_size ${asked} is ${effective}`, () =>
      assert.equal(
        outcome((v) => effectivePageSize(asked, v)),
        effective,
      ));
  }
  it("skip may not be negative", () => {
    assert.equal(
      outcome((v) => effectiveSkip(0, v)),
      0,
    );
    assert.equal(
      outcome((v) => effectiveSkip(-1, v)),
      "Invalid argument: skip: must not be negative",
    );
  });
});

describe("order_by (AIP-132)", () => {
  const orderable = { name: "name", create_time: "createTime", created_at: "createTime" };
  const good: [string, { field: string; descending: boolean } | undefined][] = [
    ["", undefined],
    [" ", undefined],
    ["name", { field: "name", descending: false }],
    ["name asc", { field: "name", descending: false }],
    ["name desc", { field: "name", descending: true }],
    ["created_at  desc ", { field: "createTime", descending: true }],
  ];
  for (const [text, order] of good) {
    it(JSON.stringify(text), () =>
      assert.deepEqual(
        outcome((v) => parseOrderBy(text, orderable, v)),
        order,
      ),
    );
  }
  for (const text of [
    "nope",
    "name;drop",
    "name DESC",
    "name desc,uid",
    "__proto__",
    "constructor",
    "name desc desc",
    "email",
  ]) {
    it(`P6: ${text} is rejected with the allowed fields`, () => {
      const message =
        'Invalid argument: order_by: must be one of name, create_time, created_at, optionally followed by " desc"';
      assert.equal(
        outcome((v) => parseOrderBy(text, orderable, v)),
        message,
      );
    });
  }
});
