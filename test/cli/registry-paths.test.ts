// Tests of the names that repositories of a registry get below the group.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pathOf, splitPath } from "../../src/cli/registry/catalog-tree.ts";

describe("the path of a repository below a group", () => {
  const top = { uid: "a".repeat(40), name: "acme.test", verified: true };
  const table: readonly (readonly [what: string, top: Parameters<typeof pathOf>[0], name: string, path?: string])[] = [
    ["its name", top, "app", "app"],
    ["its name with groups", top, "team/deep/app", "team/deep/app"],
    ["without the uid of the organization", top, `${top.uid}/team/app`, "team/app"],
    ["without the verified name of the organization", top, "acme.test/app", "app"],
    ["with a name that is not verified", { ...top, verified: false }, "acme.test/app", "acme.test/app"],
    ["with the name that the organization has as a repository", top, "acme.test", "acme.test"],
    ["none in another organization", top, `${"b".repeat(40)}/app`],
  ];
  for (const [what, group, name, path] of table)
    it(`the path of a repository: ${what}`, () => assert.equal(pathOf(group, name), path));
});

describe("a path", () => {
  for (const [path, above, name] of [
    ["app", "", "app"],
    ["team/app", "team", "app"],
    ["team/deep/app", "team/deep", "app"],
  ] as const) {
    it(`the path ${path} names ${name} in the group ${JSON.stringify(above)}`, () =>
      assert.deepEqual(splitPath(path), { above, name }));
  }
});
