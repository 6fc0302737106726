// The structure of the console: which folder may import which, no view imports another one, and no circles.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { circlesOf, graphOf } from "./circles.ts";
import { type Import, readSources } from "./sources.ts";

/** The folders and files that each folder may import, in addition to itself. Files next to them put the pages together, and may import all. */
const folders: Readonly<Record<string, readonly string[]>> = {
  texts: [],
  session: [],
  api: ["session", "texts"],
  shell: ["api", "session", "texts"],
  views: ["api", "session", "shell", "texts"],
  guides: [],
  reference: ["api", "guides", "session", "shell", "styles.ts", "texts"],
};

const { files, imports } = readSources("console/src");
const own = imports.filter(({ isPackage, target }) => !isPackage && !/^(gen|packages)\/|^virtual:/.test(target));

describe("folders of console/src", () => {
  it("each has a rule", () => {
    const present = files.filter((file) => file.includes("/")).map((file) => file.split("/")[0]);
    assert.deepEqual([...new Set(present)].sort(), Object.keys(folders).sort());
  });

  for (const [folder, rules] of Object.entries(folders)) {
    it(`${folder} imports what it may, and no rule is superfluous`, () => {
      const outgoing = own.filter(({ from, target }) => isIn(folder, from) && !isIn(folder, target));
      const refused = outgoing.filter(({ target }) => !rules.some((rule) => isIn(rule, target)));
      assert.deepEqual(refused.map(describeImport), []);
      assert.deepEqual(
        rules.filter((rule) => !outgoing.some(({ target }) => isIn(rule, target))),
        [],
      );
    });
  }

  it("a view imports no other view", () => {
    const between = own.filter(({ from, target }) => isIn("views", from) && isIn("views", target));
    const refused = between.filter(({ from, target }) => viewOf(from) !== viewOf(target));
    assert.deepEqual(refused.map(describeImport), []);
  });

  it("no file imports itself through others", () => {
    assert.deepEqual(circlesOf(graphOf(own.map(({ from, target }) => [from, target]))), []);
  });
});

function isIn(folder: string, file: string): boolean {
  return file === folder || file.startsWith(`${folder}/`);
}

function viewOf(file: string): string | undefined {
  return file.split("/")[1];
}

function describeImport({ from, target }: Import): string {
  return `${from} imports ${target}`;
}
