import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { selectSuites, suites } from "./suites.ts";

describe("npm run suites", () => {
  it("runs the named suites alone, in the order of the list", () => {
    const selected = selectSuites(["scim", "helm"], false).map(({ name }) => name);
    assert.deepEqual(selected, ["helm", "scim"]);
  });

  it("rejects a name that no suite has, and says which there are", () => {
    assert.throws(() => selectSuites(["scim", "skim"], false), /^Error: no suite is named skim; there are .*scim/);
  });

  it("runs every suite with --all, but for those that are parts of another", () => {
    const left = suites.filter((suite) => !selectSuites([], true).includes(suite)).map(({ name }) => name);
    assert.deepEqual(left, ["main-views"]);
  });
});
