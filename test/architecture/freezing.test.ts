// Which files of src may freeze objects: what is frozen is memoized for as long as it is in memory (base/memoize-frozen.ts).
import assert from "node:assert/strict";
import { it } from "node:test";
import { codeOf, files } from "./sources.ts";

const freezers: readonly string[] = [
  "base/memoize-frozen.ts",
  "storage/cache/page-cache.ts",
  "storage/cache/row-cache.ts",
  // One constant: the trailers of a successful gRPC response.
  "transport/unary/grpc.ts",
];

it("freezes objects only in caches, since frozen objects are memoized", () => {
  assert.deepEqual(
    files.filter((file) => codeOf.get(file)?.includes("Object.freeze(")),
    freezers,
  );
});
