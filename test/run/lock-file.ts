import { readFileSync } from "node:fs";

/** Throws unless the lock file has every optional dependency: without them `npm ci` fails on another platform. */
export async function checkLockFile(): Promise<void> {
  const { packages }: { packages: Record<string, { optionalDependencies?: Record<string, string> }> } = JSON.parse(
    readFileSync("package-lock.json", "utf8"),
  );
  const names = new Set(
    Object.keys(packages).map((key) => key.slice(key.lastIndexOf("node_modules/") + "node_modules/".length)),
  );
  const missing = Object.entries(packages).flatMap(([key, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !names.has(name))
      .map((name) => `${name} (wanted by ${key || "this project"})`),
  );
  if (missing.length > 0) throw new Error(`missing: ${missing.join(", ")}`);
}
