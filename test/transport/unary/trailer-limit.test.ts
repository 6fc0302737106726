// gRPC: trailers that clients accept, for errors of any size. grpc-java and the C core take 8 KiB.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ApiError, alreadyExists, Code, type ErrorDetail, invalidArgument, notFound } from "../../../src/aip/errors.ts";
import { statusTrailers } from "../../../src/transport/unary/grpc.ts";
import { fitTrailers } from "../../../src/transport/unary/trailer-limit.ts";

/** RFC 9113 §6.5.2: what a field counts for. */
const sizeOf = (trailers: Readonly<Record<string, string>>) =>
  Object.entries(trailers).reduce((sum, [name, value]) => sum + name.length + Buffer.byteLength(value) + 32, 0);
const typesOf = (details: readonly ErrorDetail[]) => details.map(({ schema }) => schema.name);
const many = (field: string, description: string) => invalidArgument(Array(20).fill({ field, description }));

describe("the trailers of a failure fit", () => {
  const [info] = notFound("t/T", "n").details;
  const table: [title: string, error: ApiError, details: string[]][] = [
    ["one violation", many("name", "is required"), ["BadRequest"]],
    ["20 violations", many("uidp.ids[0]", 'must match "^[0-9a-f]{40}(/[0-9a-f]{16})*$"'), ["BadRequest"]],
    ["20 endless violations", many("f".repeat(4000), "d".repeat(4000)), []],
    ["an endless name", alreadyExists("t/T", "n".repeat(4_000_000), "n".repeat(4_000_000)), ["ResourceInfo"]],
    ["a message of three bytes a character", new ApiError(Code.ABORTED, "語".repeat(1000)), []],
    ["a message of percent signs", new ApiError(Code.ABORTED, "%".repeat(1000)), []],
    ["half a character", new ApiError(Code.ABORTED, "\ud800".repeat(1000)), []],
    [
      "a detail that fits only without the long message",
      new ApiError(Code.ABORTED, "m".repeat(1400), { details: many("f".repeat(150), "d".repeat(30)).details }),
      [],
    ],
    [
      "a detail that fits behind one that does not",
      new ApiError(Code.ABORTED, "a", { details: [...many("f".repeat(4000), "d".repeat(4000)).details, info!] }),
      ["ResourceInfo"],
    ],
  ];
  for (const [title, error, details] of table) {
    it(title, () => {
      assert.ok(sizeOf(statusTrailers(error)) <= 8000, `${sizeOf(statusTrailers(error))} bytes`);
      const fitted = fitTrailers(error);
      assert.deepEqual(typesOf(fitted.details), details);
      // More characters than gRPC requires.
      assert.ok(encodeURIComponent(fitted.message).length <= 1500);
    });
  }

  it("an error that fits is sent unchanged", () => {
    const error = notFound("t/T", "n");
    assert.equal(fitTrailers(error), error);
  });
});
