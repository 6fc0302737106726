// Runs command lines one after another in this one process, each with its own environment, folder, input and outputs. A command has
// ended when nothing of it is left that would keep a process alive.
import { Console } from "node:console";
import { readFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { main } from "../../src/main.ts";
import type { CommandLine, Printed } from "./resident.ts";

process.on("message", async (line: CommandLine) => {
  process.send!(await runLine(line));
});

// A command that hangs must not outlive the tests: it would hold their output open.
process.once("disconnect", () => process.exit());

/** Node reads this variable when it starts. */
const ownAuthorities = getCACertificates("default");

async function runLine({ args, environment, folder, input = "" }: CommandLine): Promise<Printed> {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  const startFolder = process.cwd();
  if (folder !== undefined) process.chdir(folder);
  const authorities = environment.NODE_EXTRA_CA_CERTS;
  if (authorities !== undefined) setDefaultCACertificates([...ownAuthorities, readFileSync(authorities, "utf8")]);
  const printed: { isError: boolean; text: string }[] = [];
  const collector = (isError: boolean) =>
    new Writable({
      decodeStrings: false,
      write(chunk, _encoding, done) {
        printed.push({ isError, text: String(chunk) });
        done();
      },
    });
  const [stdout, stderr] = [collector(false), collector(true)];
  for (const [name, value] of Object.entries({ stdin: Readable.from([input]), stdout, stderr }))
    Object.defineProperty(process, name, { value, configurable: true });
  globalThis.console = new Console(stdout, stderr);
  const before = activity();
  await main(args);
  while (hasMore(activity(), before)) await setTimeout(1);
  const code = Number(process.exitCode ?? 0);
  process.exitCode = undefined;
  process.chdir(startFolder);
  if (authorities !== undefined) setDefaultCACertificates(ownAuthorities);
  const textOf = (wanted: (isError: boolean) => boolean) =>
    printed
      .filter(({ isError }) => wanted(isError))
      .map(({ text }) => text)
      .join("");
  return {
    code,
    stdout: textOf((isError) => !isError),
    stderr: textOf((isError) => isError),
    both: textOf(() => true),
  };
}

/** How many resources of each kind keep this process alive. */
function activity(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/**
 * Whether there are more of a kind than before. With fewer the command has ended too: the answer before may still have been on its
 * way when it began.
 */
function hasMore(counts: ReadonlyMap<string, number>, before: ReadonlyMap<string, number>): boolean {
  return [...counts].some(([kind, count]) => count > (before.get(kind) ?? 0));
}
