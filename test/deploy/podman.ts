// Podman, which runs the images that were built here.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const composePackage = "podman-compose==1.6.0";

/** Returns why no container runs here, or false. */
export function podmanIsMissing(): string | false {
  const missing = ["podman", "runc"].filter((name) => spawnSync("which", [name]).status !== 0);
  if (spawnSync("python3", ["-m", "pip", "--version"]).status !== 0) missing.push("pip");
  return missing.length > 0 && `it needs ${missing.join(", ")}`;
}

/** Runs containers with settings of its own. */
export interface Podman extends Disposable {
  run(...args: readonly string[]): string;
  /** Runs podman-compose. */
  compose(...args: readonly string[]): string;
}

export function newPodman(): Podman {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-podman-"));
  const settings = path.join(folder, "containers.conf");
  // Fixed limits, because root may lack the capability to raise them. The runtime runc, because crun needs a newer version of cgroups.
  const limits = 'default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]';
  writeFileSync(settings, `[containers]\n${limits}\n[engine]\nruntime = "runc"\n`);
  const env = { ...process.env, CONTAINERS_CONF: settings };
  const execute = (command: string, args: readonly string[], more = {}) =>
    execFileSync(command, args, { encoding: "utf8", stdio: "pipe", env: { ...env, ...more } }).trim();
  return {
    run: (...args) => execute("podman", args),
    compose(...args) {
      const packages = composeFolder();
      return execute("python3", [path.join(packages, "podman_compose.py"), ...args], { PYTHONPATH: packages });
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Returns the folder of podman-compose, which is downloaded on first use. */
function composeFolder(): string {
  const folder = path.resolve(".cache/podman-compose");
  const install = ["-m", "pip", "install", "--quiet", "--target", folder, composePackage];
  if (!existsSync(path.join(folder, "podman_compose.py"))) execFileSync("python3", install, { stdio: "pipe" });
  return folder;
}
