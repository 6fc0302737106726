// When the sources of an advisory had changed what they say of it, as far as that is remembered.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { advisoryLimits } from "../../src/services/vulnerabilities/limits.ts";
import { toldBy } from "../../src/services/vulnerabilities/rows.ts";

const maxSources = advisoryLimits.sources;

describe("the sources of an advisory", () => {
  it("are remembered by their author, each with its last time", () => {
    const one = toldBy([], "a", 1);
    assert.deepEqual(toldBy(toldBy(one, "b", 2), "a", 3), [
      { author: "a", time: 3 },
      { author: "b", time: 2 },
    ]);
    assert.deepEqual(toldBy(one, "c", undefined), one);
  });

  it("are so many at most, the latest of them", () => {
    let sources = toldBy([], "0", 0);
    for (let i = 1; i <= maxSources; i++) sources = toldBy(sources, String(i), i);
    assert.equal(sources.length, maxSources);
    assert.deepEqual([sources[0]!.author, sources.at(-1)!.author], ["1", String(maxSources)]);
  });
});
