// The steps of a release, in a clone of its own: what is not committed cannot get into it.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { artifactsIn, provenanceOf, type Source, sha256Of, writeChecksums } from "./artifacts.ts";
import { releaseEntries, unreleasedEntries } from "./changelog.ts";
import { setVersion } from "./version.ts";

export interface Release {
  readonly version: string;
  /** The clone in which the release is made. */
  readonly clone: string;
  /** The folder for its files. */
  readonly out: string;
  /** Names of the steps to leave out. */
  readonly skipped: readonly string[];
  readonly imageBuilder: ImageBuilder | undefined;
  /** Options for the builder of the image. */
  readonly buildOptions: readonly string[];
  readonly repository: string | undefined;
}

export interface ReleaseStep {
  readonly name: string;
  readonly isOptional?: boolean;
  /** Returns why the step cannot be done here, if it cannot. */
  readonly missing?: (release: Release) => string | undefined;
  readonly run: (release: Release) => void;
}

export const imageBuilders = ["docker", "podman", "buildah"] as const;
export type ImageBuilder = (typeof imageBuilders)[number];

export const releaseSteps: readonly ReleaseStep[] = [
  { name: "install", run: ({ clone }) => npm(clone, "ci", "--no-audit", "--no-fund") },
  { name: "version", run: commitVersion },
  { name: "test", isOptional: true, run: ({ clone }) => npm(clone, "test") },
  { name: "build", run: build },
  { name: "reproduce", run: reproduce },
  { name: "package", isOptional: true, run: testPackage },
  {
    name: "image",
    isOptional: true,
    missing: ({ imageBuilder }) => (imageBuilder ? undefined : `none of ${imageBuilders.join(", ")} works`),
    run: buildImage,
  },
  {
    name: "chart",
    isOptional: true,
    missing: () => (works("helm", "version") ? undefined : "helm is not installed"),
    run: ({ clone, out }) => run("helm", ["package", "deploy/helm/gatehouse", "--destination", out], clone),
  },
  { name: "provenance", run: writeProvenance },
  { name: "record", run: recordCommit },
];

export function run(command: string, args: readonly string[], cwd: string, env: Record<string, string> = {}): void {
  execFileSync(command, args, { cwd, stdio: "inherit", env: { ...process.env, ...env } });
}

export function git(cwd: string, ...args: string[]): string {
  return execFileSync("git", args, { cwd, encoding: "utf8" }).trim();
}

function npm(cwd: string, ...args: string[]): void {
  run("npm", args, cwd);
}

/** Returns the first builder of images that works: a docker without its daemon does not. */
export function findImageBuilder(): ImageBuilder | undefined {
  return imageBuilders.find((name) => works(name, "info"));
}

function works(command: string, ...args: string[]): boolean {
  return spawnSync(command, args).status === 0;
}

/** Returns the name of the package's file in the folder of the release. */
function tarball({ version, out }: Release): string {
  return path.join(out, `gatehouse-server-${version}.tgz`);
}

function commitVersion({ clone, version, out }: Release): void {
  const file = path.join(clone, "CHANGELOG.md");
  const changelog = readFileSync(file, "utf8");
  const entries = unreleasedEntries(changelog);
  setVersion(clone, version);
  writeFileSync(file, releaseEntries(changelog, version, new Date().toISOString().slice(0, 10)));
  writeFileSync(path.join(out, "RELEASE_NOTES.md"), `${entries}\n`);
  git(clone, "commit", "--quiet", "--all", "--message", `chore(release): ${version}`);
  git(clone, "tag", "--annotate", `v${version}`, "--message", `Gatehouse ${version}`);
}

/** Commits which commit the release is: tags may be missing in a clone, and the upgrade test runs this release. */
function recordCommit({ clone, version }: Release): void {
  const record = { version, commit: git(clone, "rev-parse", "HEAD") };
  writeFileSync(path.join(clone, "build/release/last-release.json"), `${JSON.stringify(record, undefined, 2)}\n`);
  git(clone, "commit", "--quiet", "--all", "--message", `chore(release): record the commit of ${version}`);
}

function build(release: Release): void {
  const { clone, out, version } = release;
  npm(clone, "run", "build");
  npm(clone, "run", "pack", "--", out);
  npm(clone, "pack", "--workspace=packages/client", "--pack-destination", out);
  const unpacked = path.join(out, "package");
  cpSync(path.join(unpacked, "sbom.cdx.json"), path.join(out, `gatehouse-server-${version}.cdx.json`));
  rmSync(unpacked, { recursive: true });
}

/** Builds the package of the server a second time: the same commit must give the same bytes. */
function reproduce(release: Release): void {
  const second = path.join(release.clone, "dist-again");
  mkdirSync(second);
  npm(release.clone, "run", "build");
  npm(release.clone, "run", "pack", "--", second);
  const [first, again] = [tarball(release), tarball({ ...release, out: second })].map(sha256Of);
  if (first !== again) throw new Error(`two builds of the package differ: ${first} and ${again}`);
  rmSync(second, { recursive: true });
}

function testPackage(release: Release): void {
  run("npm", ["run", "suites", "--", "package"], release.clone, { GATEHOUSE_TEST_PACKAGE: tarball(release) });
}

/** Builds the image with what is installed, and writes it as an archive that `docker load` reads. */
function buildImage(release: Release): void {
  const { clone, out, version } = release;
  const tool = release.imageBuilder!;
  const tag = `gatehouse:${version}`;
  // The image has the package of this release, which the Containerfile takes from dist/.
  cpSync(tarball(release), path.join(clone, "dist", path.basename(tarball(release))));
  // chroot needs no container runtime; the Docker format keeps the health check.
  const options = tool === "buildah" ? ["--isolation", "chroot", "--format", "docker"] : [];
  const args = ["--file", "deploy/Containerfile", "--tag", tag, "--build-arg", `VERSION=${version}`];
  run(tool, ["build", ...options, ...args, ...release.buildOptions, "."], clone);
  const archive = path.join(out, `gatehouse-${version}-linux-${process.arch}.image.tar`);
  if (tool === "buildah") run(tool, ["push", tag, `docker-archive:${archive}:${tag}`], clone);
  else run(tool, ["save", "--output", archive, tag], clone);
}

function writeProvenance(release: Release): void {
  const { clone, out, version, repository, skipped } = release;
  const commit = git(clone, "rev-parse", "HEAD");
  const startedAt = new Date(git(clone, "log", "-1", "--format=%cI"));
  const source: Source = { version, commit, repository, startedAt, skipped };
  const statement = provenanceOf(artifactsIn(out), source, path.join(clone, "package-lock.json"));
  writeFileSync(path.join(out, `gatehouse-${version}.intoto.json`), `${JSON.stringify(statement, null, 2)}\n`);
  writeChecksums(out);
}
