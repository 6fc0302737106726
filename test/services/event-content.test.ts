// Times that no JSON can tell come in over binary protocols only.
import assert from "node:assert/strict";
import { it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { AdvisoryEventSchema } from "../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { checkEvent, contentOf } from "../../src/services/vulnerabilities/event-content.ts";

it("an event of a time that cannot be told again is refused, and of the first and the last is not", () => {
  const checked = [-62_135_596_800n, 253_402_300_799n, -62_135_596_801n, 253_402_300_800n, 10n ** 15n].map(
    (seconds) => {
      const event = {
        author: "ann",
        reviewState: 1,
        createTime: { seconds },
        type: { case: "fixed", value: {} },
      } as const;
      return checkEvent(contentOf(create(AdvisoryEventSchema, event))).map(({ field }) => field);
    },
  );
  assert.deepEqual(checked, [[], [], ["create_time"], ["create_time"], ["create_time"]]);
});
