// The sentences for what the linter of rules finds.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { texts } from "../../console/src/texts/en/trust.ts";
import { partsOfFinding } from "../../console/src/views/workloads/finding-text.ts";
import { genericModel } from "../../src/sts/trust/workload-model.ts";
import { workloadModels } from "../../src/sts/trust/workload-models.ts";

const found = [...workloadModels, genericModel].flatMap(({ names, otherForms, forms, sharedValues = [] }) => [
  ...[...names, ...otherForms, ...sharedValues].map(({ what }) => what),
  ...forms.flatMap(({ openTo }) => openTo ?? []),
]);

describe("the texts of findings about rules", () => {
  it("each finding of the models of issuers has a text", () => {
    const missing = found.filter((what) => !Object.hasOwn(texts, partsOfFinding(what).id));
    assert.deepEqual(missing, []);
  });

  it("a similar name has a sentence of its own about the same text", () => {
    for (const [end, sentence] of [
      ["that begins the same", "trust.finding.begins"],
      ["that ends the same", "trust.finding.ends"],
      ["with another character in place of a dot", "trust.finding.dot"],
    ])
      assert.deepEqual(partsOfFinding(`another branch ${end}`), {
        sentence,
        what: "another branch",
        id: "trust.who.another-branch",
      });
  });
});
