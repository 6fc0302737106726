// The program in other versions: as a commit has it, and as this one with another migration. They share `node_modules`.
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
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
 * Returns the commit to upgrade from: that of the variable UPGRADE_FROM, else the latest tag, else the parent of HEAD.
 * Returns undefined where the history is missing, as in a shallow clone.
 */
export function commitBefore(): string | undefined {
  const named = process.env.UPGRADE_FROM;
  if (named) return git(["rev-parse", "--verify", `${named}^{commit}`]);
  for (const find of [
    ["describe", "--tags", "--abbrev=0", "HEAD~1"],
    ["rev-parse", "--verify", "--quiet", "HEAD~1"],
  ])
    try {
      return git(["rev-parse", "--verify", `${git(find)}^{commit}`]);
    } catch {
      // Without a tag, or without the parent.
    }
  return undefined;
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

/** Returns whether a version starts on a database that a newer one has migrated (docs/decisions/0058). */
export function startsOnNewer({ folder }: Version): boolean {
  const file = path.join(folder, "src/storage/engine/migrations.ts");
  return existsSync(file) && readFileSync(file, "utf8").includes("compatible_since");
}

function newFolder(): string {
  return mkdtempSync(path.join(tmpdir(), "gatehouse-version-"));
}

function shareModules(folder: string): void {
  symlinkSync(path.resolve("node_modules"), path.join(folder, "node_modules"));
}
