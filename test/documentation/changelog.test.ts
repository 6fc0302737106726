import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";

const maxLines = 120;
const maxLineLength = 200;

const [introduction, ...releases] = readFileSync("CHANGELOG.md", "utf8").split(/^(?=## )/m);
const { version } = JSON.parse(readFileSync("package.json", "utf8"));

describe("CHANGELOG.md", () => {
  it("begins with unreleased changes, then has each release with its date, the newest first", () => {
    const [unreleased, newest] = releases;
    assert.match(introduction!, /^# Changelog\n/);
    assert.match(unreleased!, /^## Unreleased\n/);
    for (const release of releases.slice(1)) assert.match(release, /^## \d+\.\d+\.\d+ - \d{4}-\d\d-\d\d\n/);
    assert.ok(newest!.startsWith(`## ${version} - `));
  });

  it("names known kinds of changes, breaking ones first", () => {
    const order = ["Breaking", "Added", "Changed", "Fixed", "Security"];
    for (const release of releases) {
      const kinds = [...release.matchAll(/^### (\w+)/gm)].map(([, kind]) => order.indexOf(kind!));
      assert.ok(!kinds.includes(-1), release.slice(0, 30));
      assert.deepEqual(kinds, kinds.toSorted());
    }
  });

  it(`CHANGELOG.md has at most ${maxLines} lines for each release, and one line of at most ${maxLineLength} characters for each change`, () => {
    for (const release of releases) {
      const lines = release.split("\n");
      assert.ok(lines.length <= maxLines, `${lines[0]} has ${lines.length} lines`);
      for (const line of lines) {
        assert.ok(line.length <= maxLineLength, line);
        assert.ok(!/^\s+\S/.test(line), `continues a line: ${line}`);
      }
    }
  });
});
