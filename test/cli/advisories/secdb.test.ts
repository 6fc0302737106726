// Databases of a distribution. All of them are made up.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { read, types } from "./reading.ts";

describe("secdb", () => {
  const database = (packages: unknown) => ({
    apkurl: "{{urlprefix}}/x",
    archs: ["x86_64"],
    reponame: "os",
    urlprefix: "https://p.example",
    packages,
  });

  it("a package and a vulnerability are an advisory, whatever versions name them", () => {
    const { found, problems } = read(
      database([
        {
          pkg: {
            name: "a",
            secfixes: { "1-r0": ["CVE-2030-1", "CVE-2030-2 GHSA-2"], "2-r0": ["CVE-2030-1"], "0": ["CVE-2030-3"] },
          },
        },
        { pkg: { name: "b", secfixes: { "1-r0": ["CVE-2030-1"] } } },
        { pkg: { name: "c", secfixes: {} } },
      ]),
    );
    assert.deepEqual(problems, []);
    const shown = found.map((each) => [each.artifactName, each.aliases, types(each)]);
    assert.deepEqual(shown, [
      ["a", ["CVE-2030-3"], [{ falsePositiveDetermination: {} }]],
      ["a", ["CVE-2030-1"], [{ fixed: { fixedVersion: "1-r0" } }, { fixed: { fixedVersion: "2-r0" } }]],
      ["a", ["CVE-2030-2", "GHSA-2"], [{ fixed: { fixedVersion: "1-r0" } }]],
      ["b", ["CVE-2030-1"], [{ fixed: { fixedVersion: "1-r0" } }]],
    ]);
    assert.equal(new Set(found.map(({ advisoryId }) => advisoryId)).size, 4);
    assert.deepEqual(
      new Set(found.map(({ artifactType, artifactArchitecture }) => `${artifactType} ${artifactArchitecture}`)),
      new Set(["apk x86_64"]),
    );
  });

  it("a package that is wrong is named, and the others are read", () => {
    const { found, problems } = read(
      database([
        { pkg: { name: "a", secfixes: { "1": "CVE-1" } } },
        {},
        { pkg: { name: "b", secfixes: { "1": ["CVE-1"] } } },
      ]),
    );
    assert.equal(found.length, 1);
    assert.deepEqual(problems, ["a: secfixes.1 must be a list", ": pkg must be an object"]);
  });
});
