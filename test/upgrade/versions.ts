// The program in other versions: as a commit has it, and as this one with another migration. They share `node_modules`.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { git } from "../run/git.ts";
import { addMigrations } from "../storage/engine/migration-folder.ts";

/** A version of the program in a folder; disposing of it removes what was made for it. */
export interface Version extends Disposable {
  readonly name: string;
  readonly folder: string;
}

/** The program of this repository. */
export const thisVersion: Version = { name: "this version", folder: path.resolve("."), [Symbol.dispose]() {} };

/**
 * Returns the commit to upgrade from: that of the variable UPGRADE_FROM, else of the last release, as the release recorded it. Returns
 * undefined if this clone lacks it, as a shallow clone may.
 */
export function releasedCommit(): string | undefined {
  const named = process.env.UPGRADE_FROM;
  if (named) return git(["rev-parse", "--verify", `${named}^{commit}`]);
  try {
    return git(["rev-parse", "--verify", "--quiet", `${lastRelease().commit}^{commit}`]);
  } catch {
    return undefined;
  }
}

/** Returns the last release. */
export function lastRelease(): { readonly version: string; readonly commit: string } {
  return JSON.parse(readFileSync("build/release/last-release.json", "utf8"));
}

/** Checks a commit out. */
export function checkOut(commit: string): Version {
  const folder = newFolder();
  git(["worktree", "add", "--quiet", "--detach", folder, commit]);
  shareModules(folder);
  return {
    name: git(["log", "-1", "--format=%h %s", commit]),
    folder,
    [Symbol.dispose]: () => void git(["worktree", "remove", "--force", folder]),
  };
}

/** Copies this version, and adds migrations for PostgreSQL. */
export function withMigrations(...migrations: readonly (readonly [name: string, statements: string])[]): Version {
  const folder = newFolder();
  for (const part of ["package.json", "src", "gen"]) cpSync(part, path.join(folder, part), { recursive: true });
  shareModules(folder);
  addMigrations(path.join(folder, "src/storage/schema/migrations/postgres"), migrations);
  const name = `this version with ${migrations.map(([migration]) => migration).join(", ")}`;
  return { name, folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

function newFolder(): string {
  return mkdtempSync(path.join(tmpdir(), "gatehouse-version-"));
}

function shareModules(folder: string): void {
  symlinkSync(path.resolve("node_modules"), path.join(folder, "node_modules"));
}
