// `npm test -- --changed`: the test files that a change can affect.
import path from "node:path";
import { type Dependencies, isModule, readDependencies } from "./dependencies.ts";
import { git } from "./git.ts";

/** Files that every test depends on. */
const common = new Set(["package.json", "package-lock.json"]);

/**
 * Lists the files that differ from the merge base with the main branch, committed or not; new and deleted files count.
 * Without a main branch, lists the files that differ from HEAD.
 */
export function changedFiles(root = "."): string[] {
  const base = mergeBase(root);
  const tracked = git(["diff", "--name-only", "--no-renames", base], root);
  const untracked = git(["ls-files", "--others", "--exclude-standard"], root);
  return [...new Set(`${tracked}\n${untracked}`.split("\n").filter((file) => file !== ""))].sort();
}

function mergeBase(root: string): string {
  for (const branch of ["origin/main", "main"]) {
    try {
      return git(["merge-base", "HEAD", branch], root);
    } catch {
      // There is no such branch, or it has no commit in common.
    }
  }
  return "HEAD";
}

/**
 * Selects the tests that are changed, or that import or name a changed file, directly or through other modules.
 * All paths are relative to `root`.
 */
export function selectTests(tests: readonly string[], changed: readonly string[], root = "."): string[] {
  if (changed.some((file) => common.has(file))) return [...tests];
  const known = new Map<string, Dependencies>();
  return tests.filter((test) => {
    const reached = reachable(root, path.posix.normalize(test), known);
    return changed.some((file) => isReached(file, reached));
  });
}

interface Reached {
  readonly files: ReadonlySet<string>;
  readonly dataFolders: ReadonlySet<string>;
}

/** Everything that a module depends on, itself included. */
function reachable(root: string, start: string, known: Map<string, Dependencies>): Reached {
  const modules = new Set([start]);
  const data = new Set<string>();
  const dataFolders = new Set<string>();
  for (const module of modules) {
    const dependencies = known.get(module) ?? readDependencies(root, module);
    known.set(module, dependencies);
    for (const imported of dependencies.modules) modules.add(imported);
    for (const name of dependencies.data) data.add(name);
    if (dependencies.dataFolder) dataFolders.add(dependencies.dataFolder);
  }
  return { files: new Set([...modules, ...data]), dataFolders };
}

function isReached(file: string, { files, dataFolders }: Reached): boolean {
  if (files.has(file)) return true;
  const folders = foldersOf(file);
  return folders.some((folder) => files.has(folder) || (!isModule(file) && dataFolders.has(folder)));
}

/** Returns the folders that a file is in, from the innermost. */
function foldersOf(file: string): string[] {
  const folder = path.posix.dirname(file);
  return folder === "." ? [] : [folder, ...foldersOf(folder)];
}
