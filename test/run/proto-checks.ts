// Compares the protos with the previous revision, and the generated code with the protos.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { git } from "./git.ts";
import { type Print, runTool } from "./tool.ts";

/** Generates the code into a temporary folder and compares it with `gen/`. Throws with the names of the files that differ. */
export async function checkGenerated(print?: Print): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-gen-"));
  try {
    await runTool("buf", ["generate", "--output", folder], print);
    const fresh = readFolder(path.join(folder, "gen"));
    const committed = readFolder("gen");
    const differs = [...new Set([...fresh.keys(), ...committed.keys()])].filter(
      (file) => fresh.get(file) !== committed.get(file),
    );
    if (differs.length > 0) throw new Error(`run npm run generate; these differ: ${differs.join(", ")}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readFolder(folder: string): Map<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return [path.relative(folder, file), readFileSync(file, "utf8")];
    }),
  );
}

/** Rejects breaking changes against HEAD if there are uncommitted protos, otherwise against its parent. */
export async function checkBreaking(print?: Print): Promise<void> {
  const base = previousRevision();
  if (base === undefined) {
    print?.("there is no earlier revision with protos to compare with\n");
    return;
  }
  const worktree = path.resolve(".base");
  rmSync(worktree, { recursive: true, force: true });
  git(["worktree", "prune"]);
  git(["worktree", "add", "--detach", worktree, base]);
  try {
    symlinkSync(path.resolve("node_modules"), path.join(worktree, "node_modules"));
    await runTool("buf", ["breaking", "proto", "--against", ".base/proto"], print);
  } finally {
    git(["worktree", "remove", "--force", worktree]);
  }
}

function previousRevision(): string | undefined {
  if (!existsSync(".git")) return undefined;
  const isChanged = git(["status", "--porcelain", "--", "proto"]) !== "";
  const base = isChanged ? "HEAD" : "HEAD~1";
  try {
    return git(["ls-tree", "--name-only", base, "--", "proto/", "buf.yaml"]) === "" ? undefined : base;
  } catch {
    // A shallow or new checkout has no parent.
    return undefined;
  }
}
