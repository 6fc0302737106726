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
  while (activity() !== before) await setTimeout(1);
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

/** What keeps this process alive. */
function activity(): string {
  return process.getActiveResourcesInfo().sort().join();
}
