// Tests the words by which the audit log is filtered.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { changeKinds, parseFilter, withWord } from "../../console/src/views/audit/filter.ts";
import { rowViews } from "../../src/services/audit-log/row-views.ts";

const uid = "0".repeat(40);

describe("the filter of the audit log", () => {
  it("understands words with their values, and a uid alone", () => {
    assert.deepEqual(parseFilter(`actor:${uid} kind:groups after:2026-11-01 outcome:denied ${uid}`), {
      words: { actor: uid, kind: "groups", after: "2026-11-01", outcome: "denied", resource: uid },
      unknown: [],
    });
  });

  it("names the words that it does not understand", () => {
    const unknown = [
      "nonsense",
      "actr:x",
      "actor:ada",
      "kind:grops",
      "after:soon",
      "outcome:maybe",
      "name:--",
      "kind:",
    ];
    assert.deepEqual(parseFilter(unknown.join(" ")), { words: {}, unknown });
  });

  it("offers all kinds of changes", () => {
    assert.deepEqual(changeKinds, [...rowViews.keys()].sort());
  });

  it("replaces and removes a word", () => {
    assert.equal(withWord("kind:groups after:2026-11-01", "kind", "roles"), "after:2026-11-01 kind:roles");
    assert.equal(withWord("kind:groups after:2026-11-01", "kind", ""), "after:2026-11-01");
  });
});
