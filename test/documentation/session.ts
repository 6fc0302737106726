// A shell session in a folder of its own, in which `gatehouse` is the program. Client commands run in a process that they share, since
// starting one for each takes longer than all else.
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { launcher } from "../cli/process.ts";
import { runLineInTurn } from "../cli/resident.ts";

/** Milliseconds that a command may take. */
const timeoutMs = 30_000;

/** The result of a command: exit code, and standard output and error together. */
export interface Outcome {
  readonly code: number;
  readonly output: string;
}

/** A command that runs on. */
export interface BackgroundCommand {
  /** Returns the output so far. */
  readonly output: () => string;
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
}

export interface ShellSession extends AsyncDisposable {
  /** The current folder at the start. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Runs commands as bash reads them; with `stopsAtFailure`, the first that fails ends the session. */
  run(commands: string, stopsAtFailure?: boolean): Promise<Outcome>;
  /** Starts a command in a shell with the variables, functions and folder of the session. */
  start(command: string): Promise<BackgroundCommand>;
}

/** The functions that a shell has before the first command. */
const prelude = fileURLToPath(new URL("prelude.sh", import.meta.url));

/** Starts a session; disposing of it ends everything that was started in it, and removes its folder. */
export function openSession(settings: Readonly<Record<string, string>>): ShellSession {
  const home = mkdtempSync(path.join(tmpdir(), "gatehouse-page-"));
  const folder = path.join(home, "gatehouse");
  const calls = path.join(home, "calls");
  for (const each of [folder, calls]) mkdirSync(each);
  // As in a clone, so a page can name the program by its path.
  symlinkSync(path.resolve("src"), path.join(folder, "src"));
  const environment = { ...environmentOf(home), ...settings };
  const shell = spawnShell(folder, { ...environment, CALLS: calls });
  const background: ChildProcess[] = [];
  shell.write(`. "${prelude}"\n`);
  answerCalls(shell.child.stdio[3] as Readable);
  let files = 0;
  const newFile = (kind: string) => path.join(home, `${kind}-${files++}`);

  async function run(text: string, stopsAtFailure = false): Promise<Outcome> {
    const file = newFile("commands");
    writeFileSync(file, `${text}\n`);
    const mark = randomUUID();
    const source = `. "${file}" </dev/null`;
    shell.write(stopsAtFailure ? `set -e\n${source}\nset +e\n` : `${source}\n`);
    shell.write(`printf '\\n%s %s\\n' ${mark} "$?"\n`);
    return await shell.outputUpTo(mark);
  }

  return {
    folder,
    environment,
    run,
    async start(command) {
      const state = newFile("state");
      const { output } = await run(`{ declare -p; declare -f; alias -p; } >"${state}" 2>/dev/null; pwd`);
      const script = `. "${state}" 2>/dev/null; IN_BACKGROUND=1; exec 2>&1\n${command}\n`;
      const child = spawnInBackground(script, output.trim(), environment);
      background.push(child.process);
      return child;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([shell.child, ...background].map(endGroup));
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function spawnInBackground(script: string, cwd: string, env: Readonly<Record<string, string>>) {
  const child = spawn("bash", ["--noprofile", "--norc", "-c", script], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (printed += text));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { process: child, output: () => printed, ended };
}

/** Ignores the environment of the developer, except the paths of programs. */
function environmentOf(home: string): Record<string, string> {
  return {
    HOME: home,
    XDG_CACHE_HOME: path.join(home, ".cache"),
    XDG_CONFIG_HOME: path.join(home, ".config"),
    PATH: `${path.resolve("node_modules/.bin")}:${path.dirname(process.execPath)}:${process.env.PATH}`,
    LANG: "C.UTF-8",
    TMPDIR: tmpdir(),
    PROGRAM: launcher,
    PROGRAM_NODE: process.execPath,
    ...(process.env.NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE } : {}),
  };
}

function spawnShell(cwd: string, env: Record<string, string>) {
  const child = spawn("bash", ["--noprofile", "--norc"], {
    cwd,
    env,
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    detached: true,
  });
  let printed = "";
  let look = () => {};
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding("utf8").on("data", (text) => {
      printed += text;
      look();
    });
  child.once("close", () => look());
  // A shell that has ended takes no more commands; outputUpTo says so.
  child.stdin!.on("error", () => {});
  return {
    child,
    write: (text: string) => void child.stdin!.write(text),
    /** Returns the output before the mark, and the exit code after it. */
    async outputUpTo(mark: string): Promise<Outcome> {
      const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
      const timer = setTimeout(() => reject(new Error(`no end after ${timeoutMs} ms: ${printed}`)), timeoutMs);
      look = () => {
        const end = new RegExp(`\\n${mark} (\\d+)\\n`).exec(printed);
        if (end) {
          const output = printed.slice(0, end.index);
          printed = printed.slice(end.index + end[0].length);
          resolve({ code: Number(end[1]), output });
        } else if (child.exitCode !== null) reject(new Error(`the shell ended with ${child.exitCode}: ${printed}`));
      };
      look();
      return await promise.finally(() => clearTimeout(timer));
    },
  };
}

/** Runs the commands that the function `gatehouse` leaves in folders. */
function answerCalls(requests: Readable): void {
  createInterface(requests).on("line", async (line) => {
    const [call = "", folder = ""] = line.split("\t");
    const read = (name: string) => readFileSync(path.join(call, name), "utf8");
    const exists = (name: string) => {
      try {
        return read(name);
      } catch {
        return undefined;
      }
    };
    const variables = read("environment").split("\0").filter(Boolean);
    const printed = await runLineInTurn({
      args: read("args").split("\0").slice(0, -1),
      environment: Object.fromEntries(
        variables.map((each) => [each.slice(0, each.indexOf("=")), each.slice(each.indexOf("=") + 1)]),
      ),
      folder,
      input: exists("stdin"),
    }).catch((error: Error) => ({ code: 70, stdout: "", stderr: error.message, both: error.message }));
    const isMerged = exists("is-merged") !== undefined;
    writeFileSync(path.join(call, "stdout"), isMerged ? printed.both : printed.stdout);
    writeFileSync(path.join(call, "stderr"), isMerged ? "" : printed.stderr);
    writeFileSync(path.join(call, "code"), `${printed.code}\n`);
  });
}

/** Ends a process and all that it has started. */
async function endGroup(child: ChildProcess): Promise<void> {
  const closed = new Promise((resolve) => child.once("exit", resolve));
  const isRunning = child.exitCode === null && child.signalCode === null;
  try {
    process.kill(-child.pid!, "SIGKILL");
  } catch {
    // Nothing of the group is left.
  }
  if (isRunning) await closed;
}
