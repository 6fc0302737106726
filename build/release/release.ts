// `npm run release -- VERSION`: makes a release: tests, package, image, chart, bill of materials, checksums, provenance, commit and tag.
// Your checkout changes only after every step has passed, and not at all with --dry-run. Nothing is published.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { unreleasedEntries } from "./changelog.ts";
import {
  findImageBuilder,
  git,
  type ImageBuilder,
  imageBuilders,
  type Release,
  type ReleaseStep,
  releaseSteps,
} from "./steps.ts";
import { nextVersion, versionOf } from "./version.ts";

const usage = `Usage: npm run release -- VERSION [--dry-run] [--skip STEP]… [--image-builder NAME] [--build-option OPTION]…

VERSION is a version, or major, minor or patch. The files are written to dist/release/. This command runs npm test and the tests of the
package; .ci/run --all runs every suite, and must have passed on the same commit.

  --dry-run           make everything, but neither commit nor tag
  --skip STEP         leave out a step: ${optionalSteps().join(", ")}; test and package only with --dry-run
  --image-builder NAME
                      ${imageBuilders.join(", ")}; by default the first of them that works
  --build-option OPTION
                      an option for the builder of the image, such as --build-arg=NODE=registry.example.com/node:24`;

const root = path.resolve(import.meta.dirname, "../..");
try {
  const { positionals, values } = readArguments();
  const version = nextVersion(versionOf(root), positionals[0]!);
  checkCheckout(version, values["dry-run"]);
  make(version, values);
} catch (error) {
  console.error(`release: ${(error as Error).message}`);
  process.exitCode = 1;
}

type Values = ReturnType<typeof readArguments>["values"];

function readArguments() {
  const parsed = parseArgs({
    allowPositionals: true,
    options: {
      "dry-run": { type: "boolean", default: false },
      skip: { type: "string", multiple: true, default: [] },
      "image-builder": { type: "string" },
      "build-option": { type: "string", multiple: true, default: [] },
    },
  });
  const { "dry-run": isDryRun, skip } = parsed.values;
  if (parsed.positionals.length !== 1) throw new Error(`VERSION is missing\n\n${usage}`);
  const builder = parsed.values["image-builder"];
  if (builder !== undefined && !isImageBuilder(builder))
    throw new Error(`--image-builder: ${builder} must be one of ${imageBuilders.join(", ")}`);
  const unknown = skip.find((name) => !optionalSteps().includes(name));
  if (unknown !== undefined) throw new Error(`--skip: ${unknown} must be one of ${optionalSteps().join(", ")}`);
  const tested = skip.find((name) => name === "test" || name === "package");
  if (tested !== undefined && !isDryRun) throw new Error(`--skip ${tested}: only with --dry-run`);
  return parsed;
}

function isImageBuilder(name: string | undefined): name is ImageBuilder {
  return imageBuilders.some((builder) => builder === name);
}

function optionalSteps(): string[] {
  return releaseSteps.filter(({ isOptional }) => isOptional).map(({ name }) => name);
}

/** Throws if the checkout is not ready for a release of this version. */
function checkCheckout(version: string, isDryRun: boolean): void {
  if (git(root, "status", "--porcelain") !== "") throw new Error("the checkout has changes that are not committed");
  if (!isDryRun && git(root, "branch", "--show-current") === "") throw new Error("no branch is checked out");
  if (git(root, "tag", "--list", `v${version}`) !== "") throw new Error(`the tag v${version} exists`);
  // A dry run must be possible right after a release.
  if (!isDryRun && unreleasedEntries(readFileSync(path.join(root, "CHANGELOG.md"), "utf8")) === "")
    throw new Error("CHANGELOG.md: the section Unreleased has no entries");
}

function make(version: string, values: Values): void {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-release-"));
  try {
    const release = newRelease(version, path.join(folder, "source"), values);
    const steps = releaseSteps.filter(({ name }) => !release.skipped.includes(name));
    // What cannot be made is said before the first step, and not after minutes.
    for (const step of steps) requirePrograms(step, release);
    for (const name of release.skipped) console.log(`skip  ${name}`);
    for (const step of steps) runStep(step, release);
    if (!values["dry-run"]) takeOver(release);
    console.log(`\n${readdirSync(release.out).join("\n")}\n\n${nextSteps(release, values["dry-run"])}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function newRelease(version: string, clone: string, values: Values): Release {
  const out = path.join(root, "dist/release");
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  git(root, "clone", "--quiet", root, clone);
  const author = ["user.name", "user.email"].map((name) => [name, git(root, "config", name)] as const);
  for (const [name, value] of author) git(clone, "config", name, value);
  const [remote] = git(root, "remote").split("\n");
  const address = remote ? git(root, "remote", "get-url", remote) : "";
  const repository = /^(https|ssh):/.test(address) ? address.replace(/\/\/[^/@]*@/, "//") : undefined;
  const skipped = releaseSteps.filter(({ name }) => values.skip.includes(name)).map(({ name }) => name);
  const named = values["image-builder"];
  const imageBuilder = isImageBuilder(named) ? named : findImageBuilder();
  return { version, clone, out, skipped, repository, imageBuilder, buildOptions: values["build-option"] };
}

function requirePrograms({ name, missing }: ReleaseStep, release: Release): void {
  const reason = missing?.(release);
  if (reason !== undefined) throw new Error(`${name}: ${reason}; --skip ${name} leaves it out`);
}

function runStep(step: ReleaseStep, release: Release): void {
  const startedAt = Date.now();
  step.run(release);
  console.log(`ok    ${step.name} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
}

/** Takes the commits and the tag from the clone into the checkout. */
function takeOver({ clone, version }: Release): void {
  git(root, "fetch", "--quiet", clone, "HEAD");
  git(root, "merge", "--quiet", "--ff-only", "FETCH_HEAD");
  git(root, "fetch", "--quiet", clone, "tag", `v${version}`, "--no-tags");
}

function nextSteps({ version, out }: Release, isDryRun: boolean): string {
  const at = path.relative(process.cwd(), out);
  if (isDryRun) return `Dry run: nothing is committed. The files of ${version} are in ${at}.`;
  const image = readdirSync(out).find((name) => name.endsWith(".image.tar"));
  return [
    `Version ${version} is committed and tagged. To publish it:`,
    `  git push --follow-tags`,
    `  npm publish ${at}/gatehouse-server-${version}.tgz`,
    `  npm publish ${at}/gatehouse-client-${version}.tgz`,
    ...(image ? [`  skopeo copy docker-archive:${at}/${image} docker://REGISTRY/gatehouse:${version}`] : []),
    ...(existsSync(path.join(out, `gatehouse-${version}.tgz`))
      ? [`  helm push ${at}/gatehouse-${version}.tgz oci://REGISTRY/charts`]
      : []),
  ].join("\n");
}
