import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { releaseEntries, unreleasedEntries } from "../../build/release/changelog.ts";
import {
  nextVersion,
  replaceVersion,
  shownVersions,
  versionedDocuments,
  versionOf,
} from "../../build/release/version.ts";

describe("the version of a release", () => {
  for (const [wanted, expected] of Object.entries({
    patch: "0.2.1",
    minor: "0.3.0",
    major: "1.0.0",
    "0.2.1-rc.1": "0.2.1-rc.1",
  }))
    it(`the version after 0.2.0 is ${expected} for ${wanted}`, () =>
      assert.equal(nextVersion("0.2.0", wanted), expected));
  for (const wanted of ["0.2.0", "0.2.0-rc.1", "0.1.9"])
    it(`${wanted} is rejected as the version after 0.2.0`, () =>
      assert.throws(() => nextVersion("0.2.0", wanted), /is not greater/));
  it("a word is not a version", () => assert.throws(() => nextVersion("0.2.0", "newest"), /neither a version nor/));

  const cases: [string, string][] = [
    ["Gatehouse 0.2.0 listens", "Gatehouse 0.3.0 listens"],
    ["`npx ./gatehouse-server-0.2.0.tgz serve`", "`npx ./gatehouse-server-0.3.0.tgz serve`"],
    ["-t gatehouse:0.2.0 --build-arg VERSION=0.2.0 .", "-t gatehouse:0.3.0 --build-arg VERSION=0.3.0 ."],
    ['version: 0.2.0\nappVersion: "0.2.0"', 'version: 0.3.0\nappVersion: "0.3.0"'],
    ['build_info{version="0.2.0"}', 'build_info{version="0.3.0"}'],
    ["0.2.0    0.2.0    http://h", "0.3.0    0.3.0    http://h"],
    ["OpenVEX 0.2.0, since 0.2.0, 192.0.2.0/24", "OpenVEX 0.2.0, since 0.2.0, 192.0.2.0/24"],
    ["gatehouse:0.2.0.1 gatehouse:0.2.0-rc.1", "gatehouse:0.2.0.1 gatehouse:0.2.0-rc.1"],
  ];
  for (const [text, expected] of cases)
    it(`replaceVersion returns ${JSON.stringify(expected)}`, () =>
      assert.equal(replaceVersion(text, "0.2.0", "0.3.0"), expected));
});

describe("documents", () => {
  const documents = versionedDocuments(".");
  it("the documents that show the version of Gatehouse include the security policy, the chart and the first steps", () => {
    const showing = documents.filter((file) => shownVersions(readFileSync(file, "utf8")).length > 0);
    for (const file of ["README.md", "SECURITY.md", "deploy/helm/gatehouse/Chart.yaml", "docs/first-steps.md"])
      assert.ok(showing.includes(file), file);
  });
  for (const file of documents)
    it(`${file} shows no other version of Gatehouse than the current one`, () => {
      const others = shownVersions(readFileSync(file, "utf8")).filter((version) => version !== versionOf("."));
      assert.deepEqual(others, []);
    });

  it("a release updates every document that shows the version", () => {
    const files = execFileSync("git", ["ls-files", "*.md", "*.yaml", "*.yml", "deploy"], { encoding: "utf8" })
      .trim()
      .split("\n");
    const forgotten = files.filter(
      (file) =>
        !documents.includes(file) &&
        !/^(?:CHANGELOG\.md|docs\/decisions\/)/.test(file) &&
        shownVersions(readFileSync(file, "utf8")).includes(versionOf(".")),
    );
    assert.deepEqual(forgotten, []);
  });
});

describe("the changelog of a release", () => {
  const changelog = "# Changelog\n\n## Unreleased\n\n### Added\n\n- A thing.\n\n## 0.2.0 - 2026-01-01\n\n- Older.\n";
  it("the changelog of a release has the entries of the section Unreleased", () =>
    assert.equal(unreleasedEntries(changelog), "### Added\n\n- A thing."));
  it("a release moves the entries under its version, and leaves an empty section Unreleased", () => {
    const released = releaseEntries(changelog, "0.3.0", "2026-02-03");
    assert.match(released, /## Unreleased\n\n## 0\.3\.0 - 2026-02-03\n\n### Added/);
    assert.equal(unreleasedEntries(released), "");
  });
});

describe("the recorded release", () => {
  it("the recorded release is the latest of the changelog, or the one before while a release is made", () => {
    const { version, commit } = JSON.parse(readFileSync("build/release/last-release.json", "utf8"));
    const released = [...readFileSync("CHANGELOG.md", "utf8").matchAll(/^## (\d\S+) - /gm)].map(([, name]) => name);
    assert.ok(released.slice(0, 2).includes(version), `${version} is not among ${released.slice(0, 2).join(", ")}`);
    assert.match(commit, /^[0-9a-f]{40}$/);
  });
});
