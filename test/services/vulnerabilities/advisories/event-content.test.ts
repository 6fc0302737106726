// Times that no JSON can tell come in over binary protocols only.
import assert from "node:assert/strict";
import { it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { AdvisoryEventSchema } from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { Code } from "../../../../src/aip/errors.ts";
import {
  checkEvent,
  checkEvents,
  contentOf,
  eventRow,
  refuseTooManyEvents,
} from "../../../../src/services/vulnerabilities/advisories/event-content.ts";
import { advisoryLimits } from "../../../../src/services/vulnerabilities/limits.ts";
import type { AdvisoryEventRow } from "../../../../src/storage/vulnerabilities/advisories.ts";

it("rejects an event whose time is outside of the range of timestamps, and accepts the first and the last", () => {
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

it("checks the events of an advisory one by one; some fields are optional for sources", () => {
  const right = contentOf(
    create(AdvisoryEventSchema, { author: "ann", reviewState: 1, type: { case: "fixed", value: {} } }),
  );
  const events = [right, { ...right, author: "", reviewState: 0 }];
  const fields = (optional?: string[]) => checkEvents(events, optional).map(({ field }) => field);
  assert.deepEqual(fields(), ["events[1].author", "events[1].review_state"]);
  assert.deepEqual(fields(["author"]), ["events[1].review_state"]);
  const many = Array(advisoryLimits.events).fill(right);
  assert.deepEqual(checkEvents(many), []);
  assert.deepEqual(
    checkEvents([...many, right]).map(({ field }) => field),
    ["events"],
  );
});

it("accepts the last event that fits into an advisory, and rejects the next one", () => {
  assert.doesNotThrow(() => refuseTooManyEvents(events(advisoryLimits.events, ""), "u"));
  assert.throws(() => refuseTooManyEvents(events(advisoryLimits.events + 1, ""), "u"), {
    code: Code.FAILED_PRECONDITION,
    message: /at most 1000 events/,
  });
});

it("limits the total length of the events of an advisory", () => {
  const full = advisoryLimits.eventsLength / advisoryLimits.eventBytes;
  const findings = "x".repeat(advisoryLimits.eventBytes - "findings".length);
  assert.doesNotThrow(() => refuseTooManyEvents(events(full, findings), "u"));
  assert.throws(() => refuseTooManyEvents(events(full + 1, findings), "u"), {
    code: Code.FAILED_PRECONDITION,
    message: /at most 8388608 characters/,
  });
});

/** Stored events, each of which says the same. */
function events(count: number, findings: string): AdvisoryEventRow[] {
  const content = { ...contentOf(create(AdvisoryEventSchema, {})), said: { findings } };
  return Array.from({ length: count }, () => ({ ...eventRow("e", "u", content, 0), event: content.said }));
}
