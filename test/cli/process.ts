// The program as a process, as a person starts it.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The program. */
export const launcher = fileURLToPath(new URL("../../src/gatehouse.js", import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process and what it has said so far. */
export interface Running {
  readonly child: ChildProcess;
  /** Whether what it has said on standard output matches. */
  hasSaid(pattern: RegExp): boolean;
  /** Resolves once standard output matches; rejects when the process ends before. */
  said(pattern: RegExp): Promise<RegExpMatchArray>;
  /** Resolves to the nth complete line on standard error that matches; rejects if the process ends before. */
  logged(pattern: RegExp, nth?: number): Promise<string>;
  readonly finished: Promise<Finished>;
}

/** Starts the program in an environment of its own, and with so many open files at most. */
export function start(args: readonly string[], environment: Record<string, string> = {}, openFiles?: number): Running {
  const env = environmentOf(environment);
  const command = [process.execPath, launcher, ...args];
  const child = openFiles
    ? spawn("/bin/sh", ["-c", `ulimit -n ${openFiles}; exec "$0" "$@"`, ...command], { env })
    : spawn(command[0]!, command.slice(1), { env });
  let stdout = "";
  let stderr = "";
  const listeners = new Set<() => void>();
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
    for (const listener of listeners) listener();
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
    for (const listener of listeners) listener();
  });
  const finished = new Promise<Finished>((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
  const found = <T>(find: () => T | null | undefined) =>
    new Promise<T>((resolve, reject) => {
      const look = () => {
        const match = find();
        if (match) resolve(match);
      };
      listeners.add(look);
      look();
      void finished.then(({ code }) => reject(new Error(`the program ended with ${code}: ${stderr}`)));
    });
  return {
    child,
    finished,
    hasSaid: (pattern) => pattern.test(stdout),
    said: (pattern) => found(() => stdout.match(pattern)),
    logged: (pattern, nth = 1) =>
      found(
        () =>
          stderr
            .split("\n")
            .slice(0, -1)
            .filter((line) => pattern.test(line))[nth - 1],
      ),
  };
}

/** The variables that a program needs. Others such as `CI`, `NO_COLOR`, `TERM` and `HTTP_PROXY` change its behaviour. */
const inheritedVariables = ["PATH", "HOME", "LANG", "TMPDIR", "NODE_COMPILE_CACHE", "SystemRoot", "PATHEXT", "TEMP"];

/** Returns the environment of a program: these variables, and none that describes the machine of the tests. */
export function environmentOf(environment: Readonly<Record<string, string>>): Record<string, string> {
  const inherited = inheritedVariables.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(inherited), ...environment };
}

/** Runs the program to its end. */
export async function run(args: readonly string[], environment: Record<string, string> = {}): Promise<Finished> {
  return await start(args, environment).finished;
}

/** Returns settings, by their names, as flags. */
export function flagsOf(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => [
    `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    value,
  ]);
}

/** Starts a server with these settings, in an environment of its own. Resolves once it listens. */
export async function serveWith(
  settings: Readonly<Record<string, string>>,
  environment?: Record<string, string>,
): Promise<Running> {
  const server = start(["serve", ...flagsOf(settings)], environment);
  await server.said(/listens on/);
  return server;
}

/** Returns a data directory that goes with the test. */
export function dataDirectory(): { readonly path: string } & Disposable {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-cli-"));
  return { path: folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}
