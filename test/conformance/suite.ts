// Fetches the conformance suite of Connect: its runner and protos come from the Go module proxy and are kept in a folder that git
// ignores.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const version = "v1.0.5";
const module = "connectrpc.com/conformance";
const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = path.join(root, ".cache", `conformance-${version}`);

/** The runner, and the descriptors of the service that it calls. */
export const suite = { runner: path.join(folder, "connectconformance"), descriptors: path.join(folder, "suite.binpb") };

/** Whether there is a Go to build the runner with. */
export function hasGo(): boolean {
  try {
    execFileSync("go", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Builds what is not there yet. */
export function prepareSuite(): void {
  mkdirSync(folder, { recursive: true });
  const env = { ...process.env, GOBIN: folder, GOFLAGS: "-mod=mod" };
  const go = (...args: string[]) => execFileSync("go", args, { cwd: folder, env, encoding: "utf8" });
  if (!existsSync(suite.runner)) go("install", `${module}/cmd/connectconformance@${version}`);
  if (existsSync(suite.descriptors)) return;
  const { Dir } = JSON.parse(go("mod", "download", "-json", `${module}@${version}`));
  const buf = path.join(root, "node_modules", ".bin", "buf");
  execFileSync(buf, ["build", path.join(Dir, "proto"), "-o", suite.descriptors], { stdio: "inherit" });
}
