// A shell that has nothing but curl and sed, as in a bare container.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

/** The programs that a script may call. */
const programs = ["cat", "curl", "sed"];

/** The programs of a bare container that are not always needed. */
interface MorePrograms {
  /** Programs of this machine. */
  readonly real?: readonly string[];
  /** Scripts in the places of others, by their names. */
  readonly standIns?: Readonly<Record<string, string>>;
}

/** A folder with a shell. */
export interface BareShell extends Disposable {
  /** The working folder of scripts. */
  readonly folder: string;
  /** Runs a script with these variables only, and returns what it writes. */
  run(script: string, variables?: Readonly<Record<string, string>>): Promise<string>;
}

/** Makes a folder whose programs are all that a script finds. */
export function newBareShell({ real = [], standIns = {} }: MorePrograms = {}): BareShell {
  const root = mkdtempSync(path.join(tmpdir(), "gatehouse-shell-"));
  const [bin, folder] = [path.join(root, "bin"), path.join(root, "work")];
  for (const one of [bin, folder]) mkdirSync(one);
  for (const name of [...programs, ...real]) symlinkSync(path.join("/usr/bin", name), path.join(bin, name));
  for (const [name, script] of Object.entries(standIns))
    writeFileSync(path.join(bin, name), `#!/bin/sh\n${script}`, { mode: 0o755 });
  const runFile = promisify(execFile);
  return {
    folder,
    run: async (script, variables = {}) => {
      const options = { cwd: folder, env: { ...variables, PATH: bin } };
      // Scripts print why they fail on standard output.
      const failed = (error: Error & { readonly stdout: string }) => {
        throw new Error(`${error.message}\n${error.stdout}`);
      };
      return (await runFile("/bin/sh", ["-eu", "-c", script], options).catch(failed)).stdout;
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}
