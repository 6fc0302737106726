// The programs that the benchmark needs besides Node, and where Debian has them.
import { accessSync, constants } from "node:fs";
import path from "node:path";
import { UsageError } from "./options.ts";

/** Program to Debian package. */
const needed = { wrk: "wrk", h2load: "nghttp2-client", taskset: "util-linux" } as const;

/** Throws when a program is missing, and names the packages to install. */
export function requireTools(searchPath: string): void {
  if (process.platform !== "linux") throw new UsageError("the benchmark reads /proc: it runs on Linux only");
  const missing = Object.entries(needed).filter(([tool]) => !isInstalled(tool, searchPath));
  if (missing.length === 0) return;
  const names = missing.map(([tool]) => tool).join(", ");
  const packages = missing.map(([, name]) => name).join(" ");
  throw new UsageError(`${names}: not found; install by: apt-get install ${packages}`);
}

/** Throws when pgbench is missing. */
export function requirePostgres(searchPath: string): void {
  if (!isInstalled("pgbench", searchPath))
    throw new UsageError("pgbench: not found; install by: apt-get install postgresql");
}

/** Whether a program is on the search path. */
export function isInstalled(tool: string, searchPath: string): boolean {
  return searchPath.split(path.delimiter).some((folder) => {
    try {
      accessSync(path.join(folder, tool), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
