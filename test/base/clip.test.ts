import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toJson } from "@bufbuild/protobuf";
import {
  type ApiError,
  aborted,
  alreadyExists,
  failedPrecondition,
  invalidArgument,
  invalidField,
  notFound,
  permissionDenied,
} from "../../src/aip/errors.ts";
import { clip } from "../../src/base/clip.ts";

describe("a text of a caller", () => {
  const table: [title: string, text: string, clipped: string][] = [
    ["that is short stays", "a".repeat(200), "a".repeat(200)],
    ["that is long is cut", "a".repeat(201), `${"a".repeat(200)}…`],
    ["is not cut within a character", `${"a".repeat(199)}😀b`, `${"a".repeat(199)}…`],
    ["is cut behind a character of two units", `${"a".repeat(198)}😀b`, `${"a".repeat(198)}😀…`],
  ];
  for (const [title, text, clipped] of table) it(title, () => assert.equal(clip(text), clipped));
});

describe("an error stays small, even if it repeats a long text", () => {
  const endless = "n".repeat(4_000_000);
  const table: [title: string, error: ApiError][] = [
    ["a name that is taken", alreadyExists("t/Repo", endless, `the group has a repo named ${endless}`)],
    ["a name that is not there", notFound("t/Repo", endless)],
    ["a subject", failedPrecondition("TYPE", endless, endless)],
    ["a field", invalidField(endless, endless)],
    ["many fields", invalidArgument(Array(1000).fill({ field: endless, description: "must match" }))],
    ["a description", aborted(endless)],
    ["a denial", permissionDenied(endless)],
  ];
  for (const [title, error] of table) {
    it(title, () => {
      assert.ok(error.message.length <= 1001, `the message has ${error.message.length} characters`);
      const details = JSON.stringify(error.details.map(({ schema, value }) => toJson(schema, value)));
      assert.ok(details.length < 8000, `the details have ${details.length} characters`);
    });
  }

  it("an error names 20 violations at most", () => {
    const error = invalidArgument(
      Array.from({ length: 1000 }, (_, i) => ({ field: `f${i}`, description: "is wrong" })),
    );
    const [{ schema, value } = assert.fail()] = error.details;
    const { fieldViolations } = toJson(schema, value) as { fieldViolations: { field: string }[] };
    assert.deepEqual([fieldViolations.length, fieldViolations.at(-1)?.field], [20, "f19"]);
  });
});
