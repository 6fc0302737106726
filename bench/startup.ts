// `npm run bench -- startup`: what it takes to start a command, as a ratio to `node -e 0` on the same Node. Build first: the bundle
// in `dist` is what users install. Commands take turns, and others on the machine slow down all of them alike.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { firstStatusOf } from "./gatehouse.ts";
import { freePort, startServerProcess } from "./server-process.ts";
import { median } from "./statistics.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "30" },
    program: { type: "string", default: "dist/gatehouse.js" },
    node: { type: "string", default: process.execPath },
  },
});
const rounds = Number(values.rounds);

/** Rounds that fill the compile cache and do not count. */
const warmUpRounds = 3;

/** The arguments of Node by the name of the row. */
const commands: Readonly<Record<string, readonly string[]>> = {
  "node -e 0": ["-e", "0"],
  "--version": [values.program, "--version"],
  "--help": [values.program, "--help"],
  "iam groups --help": [values.program, "iam", "groups", "--help"],
  "complete -- iam groups l": [values.program, "complete", "--", "iam", "groups", "l"],
  "iam groups list": [values.program, "iam", "groups", "list"],
};

/** The milliseconds of one run. */
interface Run {
  /** CPU time of the process and its children. */
  readonly cpu: number;
  readonly elapsed: number;
}

async function main(): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-startup-"));
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  const port = await freePort();
  const data = path.join(folder, "data");
  const args = ["serve", "--dev", "--listen", `127.0.0.1:${port}`, "--data-dir", data, "--log-level", "silent"];
  opened.use(await startServerProcess(values.node, [values.program, ...args], port));
  // The port listens before the token of the owner is there.
  await firstStatusOf(`http://127.0.0.1:${port}/readyz`);
  const environment = {
    PATH: process.env.PATH,
    HOME: folder,
    GATEHOUSE_URL: `http://127.0.0.1:${port}`,
    GATEHOUSE_TOKEN: readFileSync(path.join(data, "owner-token"), "utf8").trim(),
  };
  const runs = new Map<string, Run[]>(Object.keys(commands).map((name) => [name, []]));
  for (let round = 0; round < warmUpRounds + rounds; round++)
    for (const [name, own] of runs) {
      const run = runOnce(commands[name]!, environment);
      if (round >= warmUpRounds) own.push(run);
    }
  report(runs);
}

/** Runs a command to its end. Bash measures its CPU time in milliseconds; Node does not report that of a child. */
function runOnce(args: readonly string[], env: NodeJS.ProcessEnv): Run {
  const script = 'TIMEFORMAT="%U %S %R"; time "$@" >/dev/null';
  const { status, stderr } = spawnSync("bash", ["-c", script, "bash", values.node, ...args], { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
  const [user, system, elapsed] = stderr.trim().split("\n").at(-1)!.split(" ").map(Number);
  return { cpu: (user! + system!) * 1000, elapsed: elapsed! * 1000 };
}

function report(runs: ReadonlyMap<string, readonly Run[]>): void {
  const middle = (name: string, of: keyof Run) => median(runs.get(name)!.map((run) => run[of]));
  console.log(`median of ${rounds} rounds of ${values.program} on ${values.node}\n`);
  console.log("".padEnd(26) + ["CPU ms", "ratio", "elapsed ms", "ratio"].map(cell).join(""));
  for (const name of runs.keys()) {
    const row = (["cpu", "elapsed"] as const).flatMap((of) => [
      middle(name, of).toFixed(0),
      (middle(name, of) / middle("node -e 0", of)).toFixed(2),
    ]);
    console.log(name.padEnd(26) + row.map(cell).join(""));
  }
}

function cell(text: string): string {
  return text.padStart(12);
}

await main();
