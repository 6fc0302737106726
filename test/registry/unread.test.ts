import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { OutboundError } from "../../src/outbound/error.ts";
import { ContentError, describeImage } from "../../src/registry-notifications/image.ts";
import { logUnread } from "../../src/registry-notifications/unread.ts";

describe("the log of what could not be read from a registry", () => {
  const event = { repository: "acme/app", tag: "1.0", digest: `sha256:${"a".repeat(64)}` };
  const logged = (error: unknown, about = event) => {
    const lines: unknown[] = [];
    const level = (name: string) => (fault: object, message: string) => void lines.push([name, fault, message]);
    logUnread({ info: level("info"), warn: level("warn") }, error, about, "an image could not be read");
    return lines;
  };

  it("has a line at info for a manifest that was deleted before it was read", async () => {
    const error = await describeImage(async () => undefined, event.repository, event.digest).catch((thrown) => thrown);
    assert.deepEqual(logged(error), [["info", event, "a manifest was deleted before it was read"]]);
  });

  for (const [what, error, reason] of [
    ["is broken", new ContentError("acme/app@sha256:aa is not JSON"), "acme/app@sha256:aa is not JSON"],
    [
      "does not answer",
      new OutboundError("unavailable", "no answer", new Error("ECONNREFUSED")),
      "no answer: ECONNREFUSED",
    ],
  ] as const) {
    it(`has a warning of one line for a registry that ${what}`, () => {
      assert.deepEqual(logged(error), [["warn", { ...event, reason }, "an image could not be read"]]);
    });
  }

  it("has the stack trace of an error that nobody expects", () => {
    const err = new TypeError("x is not a function");
    const { repository, digest } = event;
    assert.deepEqual(logged(err, { repository, digest, tag: "" }), [
      ["warn", { repository, digest, err }, "an image could not be read"],
    ]);
  });
});
