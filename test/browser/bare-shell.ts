// A shell that has nothing but curl and sed, as in a bare container.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

/** The programs that a script may call. */
const programs = ["cat", "curl", "sed"];

/** A folder with a shell. */
export interface BareShell extends Disposable {
  /** The working folder of scripts. */
  readonly folder: string;
  /** Runs a script with these variables only, and returns what it writes. */
  run(script: string, variables?: Readonly<Record<string, string>>): Promise<string>;
}

/** Makes a folder whose programs are all that a script finds. */
export function newBareShell(): BareShell {
  const root = mkdtempSync(path.join(tmpdir(), "gatehouse-shell-"));
  const [bin, folder] = [path.join(root, "bin"), path.join(root, "work")];
  for (const one of [bin, folder]) mkdirSync(one);
  for (const name of programs) symlinkSync(path.join("/usr/bin", name), path.join(bin, name));
  const runFile = promisify(execFile);
  return {
    folder,
    run: async (script, variables = {}) => {
      const { stdout } = await runFile("/bin/sh", ["-e", "-c", script], {
        cwd: folder,
        env: { PATH: bin, ...variables },
      });
      return stdout;
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}
