// `npm run bench -- tracing [ROUNDS CALLERS]`: the CPU time of a call without traces, with one call in a hundred recorded, and with all of
// them. The servers run side by side and take turns. Compare within a round: other programs on the machine take their time from all
// servers. There are several servers of each kind, because two equal ones differ by up to 4 %, depending on what the compiler of Node
// saw first.
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { Agent, createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { freePort, type ServerProcess, startServerProcess } from "./server-process.ts";
import { mean, median } from "./statistics.ts";

const options = {
  rounds: Number(process.argv[2] ?? 60),
  calls: 500,
  concurrency: Number(process.argv[3] ?? 8),
  servers: 3,
  warmUpCalls: 5_000,
} as const;

/** The variables of OpenTelemetry by the name of the row. */
const modes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  off: {},
  "1 %": { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.01" },
  "100 %": { OTEL_TRACES_SAMPLER: "always_on" },
};

/** Of a call that is recorded. */
const traceparent = `00-${"1".repeat(32)}-${"2".repeat(16)}-01`;

/** The calls that are made: one that a cache answers, and one that reads the database. */
const targets: Readonly<Record<string, (organization: string, i: number) => string>> = {
  "list of groups from the cache": () => "/iam/v2beta1/groups?uidp.in_root=true",
  "list of groups from the database": (organization, i) =>
    `/iam/v2beta1/groups?uidp.descendants_of=${organization}&page_size=20&name=none-${i}`,
};

interface Target {
  readonly mode: string;
  readonly server: ServerProcess;
  readonly token: string;
  readonly organization: string;
  readonly agent: Agent;
}

async function main(): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const collector = createServer((received, response) => {
    received.resume().on("end", () => response.end("{}"));
  }).listen(0, "127.0.0.1");
  opened.defer(() => {
    collector.closeAllConnections();
    collector.close();
  });
  await once(collector, "listening");
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const started: Target[] = [];
  for (const [mode, variables] of Object.entries(modes)) {
    const own = Object.keys(variables).length > 0 ? { ...variables, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } : {};
    for (let i = 0; i < options.servers; i++) started.push(await startTarget(opened, mode, own));
  }
  for (const [what, targetOf] of Object.entries(targets)) report(what, await measure(started, targetOf));
}

async function startTarget(
  opened: AsyncDisposableStack,
  mode: string,
  variables: Readonly<Record<string, string>>,
): Promise<Target> {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-tracing-"));
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  const port = await freePort();
  const args = ["--max-semi-space-size=8", "dist/gatehouse.js", "serve", "--dev", "--listen", `127.0.0.1:${port}`];
  const own = ["--data-dir", folder, "--log-level", "silent"];
  const environment = { ...process.env, ...variables };
  const server = opened.use(await startServerProcess(process.execPath, [...args, ...own], port, { environment }));
  const agent = new Agent({ keepAlive: true, maxSockets: options.concurrency });
  opened.defer(() => agent.destroy());
  const token = readFileSync(path.join(folder, "owner-token"), "utf8").trim();
  const target = { mode, server, agent, token, organization: "" };
  const { groups } = JSON.parse(await call(target, "/iam/v2beta1/groups?uidp.in_root=true"));
  return { ...target, organization: groups[0].uid };
}

async function call(
  { server, agent, token }: Omit<Target, "organization">,
  target: string,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, ...more };
  const sent = request({ host: "127.0.0.1", port: server.port, path: target, agent, headers }).end();
  const [response]: IncomingMessage[] = await once(sent, "response");
  const body = await text(response!);
  if (response!.statusCode !== 200) throw new Error(`${target}: ${response!.statusCode} ${body}`);
  return body;
}

/** The server's CPU time per call, in microseconds. */
interface Cost {
  readonly mode: string;
  /** Of the calls of each round. */
  readonly rounds: readonly number[];
  /** Of the time from the first round to the end of the last one, with what a server does while others are called. */
  readonly whole: number;
}

async function measure(
  started: readonly Target[],
  targetOf: (organization: string, i: number) => string,
): Promise<readonly Cost[]> {
  let made = 0;
  const run = async (target: Target, calls: number, headers = {}) => {
    const end = made + calls;
    const one = async () => {
      while (made < end) await call(target, targetOf(target.organization, made++), headers);
    };
    await Promise.all(Array.from({ length: options.concurrency }, one));
  };
  // A sampled parent: a server that has run for an hour has compiled what recorded calls need, too.
  for (const target of started) await run(target, options.warmUpCalls, { traceparent });
  for (const target of started) await run(target, options.warmUpCalls);
  const microsSince = (before: number, { server }: Target) => (cpuNanosOf(server.pid) - before) / 1000;
  const running = started.map((target) => ({ target, atBegin: cpuNanosOf(target.server.pid), rounds: [] as number[] }));
  for (let round = 0; round < options.rounds; round++)
    for (const { target, rounds } of rotated(running, round)) {
      const before = cpuNanosOf(target.server.pid);
      await run(target, options.calls);
      rounds.push(microsSince(before, target) / options.calls);
    }
  // Spans are sent every five seconds; what they take belongs to the calls.
  await pause(6_000);
  return running.map(({ target, atBegin, rounds }) => {
    const whole = microsSince(atBegin, target) / options.calls / options.rounds;
    return { mode: target.mode, rounds, whole };
  });
}

/** Each round begins with another server, because the first one of a round finds other caches of the processor. */
function rotated<T>(items: readonly T[], by: number): readonly T[] {
  const first = by % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}

/** The CPU time of all threads of a process, in nanoseconds: /proc/PID/stat counts in steps of ten milliseconds. */
function cpuNanosOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, thread) => {
    const [onCpu] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ");
    return sum + Number(onCpu);
  }, 0);
}

/** Ratios are to the mean of the servers without traces: in the same round, and in the whole time. A row is the mean of its servers. */
function report(what: string, costs: readonly Cost[]): void {
  const off = costs.filter(({ mode }) => mode === "off");
  const bases = Array.from({ length: options.rounds }, (_, i) => mean(off.map(({ rounds }) => rounds[i]!)));
  const base = mean(off.map(({ whole }) => whole));
  const settings = `${options.rounds} rounds of ${options.calls} calls, ${options.servers} servers each`;
  console.log(`\n${what}: CPU µs per call, ${settings}, ${options.concurrency} callers`);
  console.log(
    "".padEnd(10) + ["median round", "median ratio", "lowest", "highest", "whole", "ratio"].map(cell).join(""),
  );
  for (const mode of Object.keys(modes)) {
    const servers = costs.filter((cost) => cost.mode === mode);
    const ratios = servers.map(({ rounds }) => median(rounds.map((micros, i) => micros / bases[i]!)));
    const micros = mean(servers.map(({ rounds }) => median(rounds)));
    const whole = mean(servers.map((server) => server.whole));
    const found = [mean(ratios), Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(3));
    const row = [micros.toFixed(1), ...found, whole.toFixed(1), (whole / base).toFixed(3)];
    console.log(mode.padEnd(10) + row.map(cell).join(""));
  }
}

function cell(text: string): string {
  return text.padStart(14);
}

await main();
