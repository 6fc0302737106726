// Packages of Python for tests, in an environment of their own that is kept for the next run.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { hasPrograms } from "./programs.ts";

const place = path.resolve(import.meta.dirname, "../../.cache/python");

/**
 * Installs what a requirements file names; answers the directory of the programs, or undefined without a Python that can. Throws
 * when the packages cannot be had.
 */
export async function openVenv(requirements: string): Promise<string | undefined> {
  if (!hasPrograms("python3") || !canInstall()) return undefined;
  const digest = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 16);
  const directory = path.join(place, digest);
  const mark = path.join(directory, "complete");
  if (!existsSync(mark)) install(directory, requirements);
  return path.join(directory, "bin");
}

function install(directory: string, requirements: string): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  execFileSync("python3", ["-m", "venv", directory], { stdio: "pipe" });
  const log = path.join(directory, "pip.log");
  const options = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--log", log];
  execFileSync(path.join(directory, "bin/python"), [...options, "-r", requirements], { stdio: "pipe" });
  renameSync(log, path.join(directory, "complete"));
}

function canInstall(): boolean {
  try {
    execFileSync("python3", ["-c", "import venv, ensurepip"], { stdio: "pipe" });
    return true;
  } catch {
    return false;
  }
}
