// The figures of docs/design/performance.md are those of the runs that are recorded.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { figuresPage, withRecordedFigures } from "../../bench/figures.ts";
import { readRecorded } from "../../bench/results.ts";

it(`${figuresPage} has the recorded figures; npx node bench/write-figures.ts writes them`, () => {
  const text = readFileSync(figuresPage, "utf8");
  assert.equal(withRecordedFigures(text), text);
  const names = readRecorded("groups")!.scenarios.map(({ name }) => name);
  assert.ok(names.filter((name) => text.includes(`\n| ${name} |`)).length > 10);
});
