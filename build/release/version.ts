// The version of the program, and the files that name it.
import { execFileSync } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import semver from "semver";

/** Files that show the version in commands, output or manifests. Decision records and pages about formats name other versions. */
const documents = [
  "README.md",
  "SECURITY.md",
  "packages/client/README.md",
  "deploy/**/*",
  "docs/*.md",
  "docs/integrations/*.md",
  "docs/operate/*.md",
  "docs/reference/*.md",
];

/** Returns the version of the manifest in a folder. */
export function versionOf(root: string): string {
  return JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")).version;
}

/**
 * Returns the version to release: `wanted` itself, or the current version incremented by `major`, `minor` or `patch`.
 *
 * @throws Error if it is neither, or not greater than the current version.
 */
export function nextVersion(current: string, wanted: string): string {
  const isStep = wanted === "major" || wanted === "minor" || wanted === "patch";
  const next = isStep ? semver.inc(current, wanted) : semver.valid(wanted);
  if (next === null)
    throw new Error(`VERSION: ${JSON.stringify(wanted)} is neither a version nor major, minor or patch`);
  if (semver.lte(next, current)) throw new Error(`VERSION: ${next} is not greater than the current version ${current}`);
  return next;
}

/** The package of clients has the version of the server whose API it has. */
const client = "packages/client";

/** Words before the version of Gatehouse: its name, a build argument, a member of a manifest or of a metric. */
const before = String.raw`Gatehouse |gatehouse-(?:client|server)-|gatehouse:|\bVERSION=|\bversion="|^version: |^appVersion: "`;

/** Returns the files in a folder that show the version. */
export function versionedDocuments(root: string): string[] {
  return globSync(documents, { cwd: root }).filter((name) => path.extname(name) || name.endsWith("Containerfile"));
}

/** Returns the versions of Gatehouse that a text shows. */
export function shownVersions(text: string): string[] {
  return [...text.matchAll(new RegExp(`(?:${before})(\\d+\\.\\d+\\.(?:\\d+|x))`, "gm"))].map(([, version]) => version!);
}

/** Writes the version into the manifests, the lock file, and every document that shows the current one. */
export function setVersion(root: string, version: string): void {
  const current = versionOf(root);
  const options = [`--workspace=${client}`, "--include-workspace-root", "--no-git-tag-version", "--ignore-scripts"];
  execFileSync("npm", ["version", version, ...options], { cwd: root, stdio: "pipe" });
  for (const name of versionedDocuments(root)) {
    const file = path.join(root, name);
    const text = readFileSync(file, "utf8");
    const changed = replaceVersion(text, current, version);
    if (changed !== text) writeFileSync(file, changed);
  }
}

/** Replaces the version where it is that of Gatehouse: after its name, as a build argument, in manifests, metrics and output. */
export function replaceVersion(text: string, current: string, version: string): string {
  const escaped = current.replaceAll(/[.+]/g, "\\$&");
  // The columns of `gatehouse version`: client, server, address.
  const columns = new RegExp(`^${escaped}( +)${escaped}( +http)`, "gm");
  return text
    .replace(new RegExp(`(${before})${escaped}(?!\\.?[0-9])(?!-[0-9a-z])`, "gm"), `$1${version}`)
    .replace(columns, `${version}$1${version}$2`);
}
