import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PreconditionFailure } from "../../gen/google/rpc/error_details_pb.ts";
import { failedPreconditions } from "../../src/aip/errors.ts";

describe("an error", () => {
  it("an error by many resources names the first 20, so clients can read the response", () => {
    const violations = Array.from({ length: 1000 }, (_, i) => ({ description: `group "${i}"`, subject: `${i}` }));
    const { details } = failedPreconditions("AMBIGUOUS_NAME", "1000 resources share their paths", violations);
    const named = (details[0]!.value as PreconditionFailure).violations;
    assert.deepEqual(
      named.map(({ type, description, subject }) => ({ type, description, subject })),
      violations.slice(0, 20).map((each) => ({ type: "AMBIGUOUS_NAME", ...each })),
    );
  });
});
