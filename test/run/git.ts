import { execFileSync } from "node:child_process";

/** Runs git and returns its output without surrounding white space. Throws if git fails. */
export function git(args: readonly string[], folder = "."): string {
  return execFileSync("git", [...args], { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}
