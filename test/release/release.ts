// `npm run suites -- release`: a dry run of a release, without the tests that run elsewhere, and what it left in dist/release. Not a part of
// `npm test`: it installs and builds in a clone of its own, with the image where it can be built.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import semver from "semver";
import { unreleasedEntries } from "../../build/release/changelog.ts";
import { buildOptions, imagesAreMissing, makeBaseImages, removeBaseImages } from "../deploy/base-images.ts";

const folder = path.resolve("dist/release");
const current: string = JSON.parse(readFileSync("package.json", "utf8")).version;
const version = semver.inc(current, "minor")!;
const withoutImage = imagesAreMissing();
const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8" });
const read = (name: string) => readFileSync(path.join(folder, name), "utf8");
const release = (...args: string[]) =>
  spawnSync(process.execPath, ["build/release/release.ts", ...args], { encoding: "utf8", maxBuffer: 2 ** 26 });

// A release has only what is committed.
const skip = git("status", "--porcelain") !== "" && "the checkout has changes that are not committed";
if (skip) console.error(`suite release is skipped: ${skip}`);

describe("a release", { skip }, () => {
  const atStart = { head: git("rev-parse", "HEAD"), tags: git("tag") };
  let output = "";

  before(() => {
    const image = withoutImage
      ? ["--skip", "image"]
      : ["--image-builder", "buildah", ...buildOptions(makeBaseImages()).map((one) => `--build-option=${one}`)];
    const chart = spawnSync("helm", ["version"]).status === 0 ? [] : ["--skip", "chart"];
    const result = release("minor", "--dry-run", "--skip", "test", "--skip", "package", ...image, ...chart);
    output = result.stdout + result.stderr;
    assert.equal(result.status, 0, output);
  });
  after(() => withoutImage || removeBaseImages());

  it("a dry run of a release leaves the checkout unchanged", () => {
    assert.deepEqual({ head: git("rev-parse", "HEAD"), tags: git("tag") }, atStart);
    assert.equal(git("status", "--porcelain"), "");
    assert.match(output, /Dry run: nothing is committed/);
  });

  it("a release has packages of the new version, whose texts mention no other", () => {
    const packed = (name: string, file: string) =>
      execFileSync("tar", ["-xzOf", path.join(folder, `${name}-${version}.tgz`), `package/${file}`], {
        encoding: "utf8",
      });
    for (const name of ["gatehouse-server", "gatehouse-client"])
      assert.equal(JSON.parse(packed(name, "package.json")).version, version);
    const readme = packed("gatehouse-server", "README.md");
    assert.match(readme, new RegExp(`Gatehouse ${version} listens`));
    assert.doesNotMatch(readme, new RegExp(`Gatehouse ${current}`));
  });

  it("a release has a valid checksum of every file", () => {
    execFileSync("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: folder, stdio: "pipe" });
    const named = read("SHA256SUMS")
      .trim()
      .split("\n")
      .map((line) => line.split("  ")[1]);
    assert.deepEqual(named.concat("SHA256SUMS").sort(), readdirSync(folder).sort());
  });

  it("a release has a provenance that names every file and the steps left out", () => {
    const { subject, predicate } = JSON.parse(read(`gatehouse-${version}.intoto.json`));
    const sums = read("SHA256SUMS");
    for (const { name, digest } of subject) assert.ok(sums.includes(`${digest.sha256}  ${name}\n`), name);
    assert.ok(subject.length >= 3);
    assert.ok(predicate.buildDefinition.externalParameters.skipped.includes("test"));
    assert.match(predicate.buildDefinition.resolvedDependencies[0].digest.gitCommit, /^[0-9a-f]{40}$/);
  });

  it("a release has a bill of materials and the notes of the changelog", () => {
    const { metadata, components } = JSON.parse(read(`gatehouse-server-${version}.cdx.json`));
    assert.equal(metadata.component.purl, `pkg:npm/gatehouse-server@${version}`);
    assert.ok(components.length > 50);
    assert.equal(read("RELEASE_NOTES.md").trim(), unreleasedEntries(readFileSync("CHANGELOG.md", "utf8")));
  });

  it("a release has an image that container engines load, with the version as its label", {
    skip: withoutImage,
  }, () => {
    const [name] = readdirSync(folder).filter((one) => one.endsWith(".image.tar"));
    const inspected = execFileSync("skopeo", ["inspect", `docker-archive:${path.join(folder, name!)}`], {
      encoding: "utf8",
    });
    assert.equal(JSON.parse(inspected).Labels["org.opencontainers.image.version"], version);
  });
});

describe("a release that cannot be made", { skip }, () => {
  /** Returns the state that a release changes: the commit, the tags, and the files, which it deletes first. */
  function state() {
    const names = existsSync(folder) ? readdirSync(folder).sort() : undefined;
    const files = names?.map((name) => {
      const { size, mtimeMs } = statSync(path.join(folder, name));
      return { name, size, mtimeMs };
    });
    return { head: git("rev-parse", "HEAD"), tags: git("tag"), files };
  }

  const cases: [string, string[], RegExp][] = [
    ["without a version", ["--dry-run"], /VERSION is missing/],
    ["with another word", ["later", "--dry-run"], /"later" is neither a version nor major, minor or patch/],
    ["with a version that is not greater", [current, "--dry-run"], /is not greater than the current version/],
    ["without its tests", ["minor", "--skip", "test"], /--skip test: only with --dry-run/],
    [
      "with an unknown builder of images",
      ["minor", "--dry-run", "--image-builder", "kiln"],
      /--image-builder: kiln must be one of/,
    ],
    [
      "without a step that nobody may leave out",
      ["minor", "--dry-run", "--skip", "provenance"],
      /--skip: provenance must be one of/,
    ],
  ];
  for (const [name, args, message] of cases)
    it(name, () => {
      const before = state();
      const { status, stderr } = release(...args);
      assert.equal(status, 1);
      assert.match(stderr, message);
      assert.deepEqual(state(), before);
    });
});
