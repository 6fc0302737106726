// Runs command lines one after another in this one process, each with its own environment and outputs. A command is through
// when nothing of it is left that would keep a process alive.
import { Console } from "node:console";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { main } from "../../src/main.ts";
import type { Finished } from "./process.ts";
import type { CommandLine } from "./resident.ts";

process.on("message", async (line: CommandLine) => {
  process.send!(await runLine(line));
});

async function runLine({ args, environment }: CommandLine): Promise<Finished> {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const said = Promise.all([text(stdout), text(stderr)]);
  for (const [name, value] of Object.entries({ stdout, stderr }))
    Object.defineProperty(process, name, { value, configurable: true });
  globalThis.console = new Console(stdout, stderr);
  const before = activity();
  await main(args);
  while (activity() !== before) await setTimeout(1);
  const code = Number(process.exitCode ?? 0);
  process.exitCode = undefined;
  stdout.end();
  stderr.end();
  const [out, err] = await said;
  return { code, stdout: out, stderr: err };
}

/** What keeps this process alive. */
function activity(): string {
  return process.getActiveResourcesInfo().sort().join();
}
