import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findPassages, maxMatches, type Passage } from "../../console/src/guides/passages.ts";

const passages: readonly Passage[] = [
  { address: "/docs/a", title: "Back up", heading: "Back up", text: "Copy the database. A restore ends sessions." },
  { address: "/docs/b#keys", title: "Monitor", heading: "Rotate signing keys", text: "Keys sign tokens." },
  {
    address: "/docs/b#other",
    title: "Monitor",
    heading: "Collect metrics",
    text: `${"x ".repeat(100)}signing keys ${"y ".repeat(100)}`,
  },
];
const found = (query: string) => findPassages(passages, query).map(({ passage }) => passage.address);

describe("the search of the guides", () => {
  it("finds passages that have all words, in any case, those with the words in their heading first", () => {
    assert.deepEqual(found("SIGNING keys"), ["/docs/b#keys", "/docs/b#other"]);
    assert.deepEqual(found("monitor metrics"), ["/docs/b#other"]);
    assert.deepEqual(found("signing restore"), []);
    assert.deepEqual(found("  "), []);
  });

  it("shows the part of a text that has the word", () => {
    const [, second] = findPassages(passages, "signing");
    assert.match(second!.excerpt, /^….*signing keys.*…$/);
    assert.ok(second!.excerpt.length < 160);
  });

  it("shows a limited number of passages", () => {
    const many = Array.from({ length: 100 }, (_, i) => ({ ...passages[0]!, address: `/docs/${i}` }));
    assert.equal(findPassages(many, "restore").length, maxMatches);
  });
});
