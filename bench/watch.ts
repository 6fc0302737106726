// `npm run bench -- watch`: what idle streams of changes cost the server, and how long changes take to many streams. The server runs on one
// core; the clients, in a process of their own, and the writer on the other.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { startDebianPostgres } from "../test/harness/debian-postgres.ts";
import { firstStatusOf } from "./gatehouse.ts";
import { anonymousMemoryOf, cpuMicrosOf } from "./proc.ts";
import { freePort, loadCore, pinned, startServerProcess } from "./server-process.ts";
import type { WatchPlan, WatchReport } from "./watch-client.ts";

const { values } = parseArgs({
  options: {
    database: { type: "string", default: "sqlite" },
    idle: { type: "string", default: "1000" },
    watchers: { type: "string", default: "100" },
    changes: { type: "string", default: "200" },
    seconds: { type: "string", default: "30" },
  },
});
const [idle, watchers, changesPerSecond, seconds] = [values.idle, values.watchers, values.changes, values.seconds].map(
  Number,
) as [number, number, number, number];

/** Streams of one caller, and of one connection: a server allows no more. */
const streamsPerCaller = 100;

await main();

async function main(): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const postgres = values.database === "postgres" ? opened.use(await startDebianPostgres()) : undefined;
  if (postgres) await postgres.query("CREATE DATABASE watched");
  const data = mkdtempSync(path.join(tmpdir(), "gatehouse-watch-"));
  opened.defer(() => rmSync(data, { recursive: true, force: true }));
  const port = await freePort();
  const program = fileURLToPath(new URL("../src/gatehouse.js", import.meta.url));
  const database = postgres ? ["--database-url", postgres.url("watched")] : [];
  const own = ["--listen", `127.0.0.1:${port}`, "--data-dir", data, "--log-level", "silent", ...database];
  const args = ["--max-semi-space-size=8", program, "serve", "--dev", ...own];
  const server = opened.use(await startServerProcess(process.execPath, args, port));
  const url = `http://127.0.0.1:${port}`;
  await firstStatusOf(`${url}/readyz`);
  const token = readFileSync(path.join(data, "owner-token"), "utf8").trim();
  const agent = new Agent({ keepAlive: true });
  opened.defer(() => agent.destroy());
  const call = (method: string, route: string, body?: object) => callRest(agent, url + route, token, method, body);
  const { groups } = await call("GET", "/iam/v2beta1/groups");
  const groupUid: string = groups[0].uid;
  const tokens = await newReaders(call, url, groupUid, Math.ceil(Math.max(idle, watchers) / streamsPerCaller));
  await measureIdle(server.pid, { url, groupUid, tokens });
  await measureDelays({ url, groupUid, tokens }, (n) =>
    call("PATCH", `/iam/v2beta1/groups/${groupUid}?update_mask=description`, { description: `change ${n}` }),
  );
}

type CallRest = (method: string, route: string, body?: object) => ReturnType<typeof callRest>;

/** Adds identities that may read a group, and returns a token of each. */
async function newReaders(call: CallRest, url: string, groupUid: string, count: number): Promise<string[]> {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const issuerKeys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "1", alg: "ES256" }] });
  const { roles } = await call("GET", "/iam/v2beta1/roles?name=viewer");
  const issuer = "https://issuer.example.org";
  return await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const subject = `reader-${i}`;
      const expirationTime = new Date(Date.now() + 3_600_000).toISOString();
      const body = { name: subject, staticKeys: { issuer, subject, issuerKeys, expirationTime } };
      const { uid } = await call("POST", `/iam/v2beta1/identities/${groupUid}`, body);
      await call("POST", `/iam/v2beta1/roleBindings/${groupUid}`, { identityUid: uid, roleUid: roles[0].uid });
      const header = { alg: "ES256", kid: "1", typ: "JWT" };
      const claims = new SignJWT().setProtectedHeader(header).setIssuer(issuer).setSubject(subject).setAudience(url);
      const jwt = await claims.setIssuedAt().setExpirationTime("1h").sign(privateKey);
      const query = new URLSearchParams({ aud: url, identity: uid });
      const response = await fetch(`${url}/sts/exchange?${query}`, { headers: { authorization: `Bearer ${jwt}` } });
      const { token } = (await response.json()) as { readonly token: string };
      return token;
    }),
  );
}

/** The group that is watched, and its readers. */
type Place = Pick<WatchPlan, "url" | "tokens" | "groupUid">;

async function measureIdle(pid: number, place: Place): Promise<void> {
  const before = await usage(pid);
  await using clients = await openClients({ ...place, streams: idle });
  const during = await usage(pid);
  await clients.report();
  console.log(`${idle} idle streams on ${values.database}:`);
  console.log(`  memory   ${before.memoryMib.toFixed(0)} → ${during.memoryMib.toFixed(0)} MiB`);
  console.log(`  CPU time ${before.cpuPercent.toFixed(1)} → ${during.cpuPercent.toFixed(1)} % of a core`);
}

async function measureDelays(place: Place, change: (n: number) => Promise<unknown>): Promise<void> {
  await using clients = await openClients({ ...place, streams: watchers });
  const count = changesPerSecond * seconds;
  const startedAt = performance.now();
  const writes: Promise<unknown>[] = [];
  for (let n = 0; n < count; n++) {
    const wait = startedAt + (n * 1000) / changesPerSecond - performance.now();
    if (wait > 1) await sleep(wait);
    writes.push(change(n));
  }
  await Promise.all(writes);
  const elapsed = (performance.now() - startedAt) / 1000;
  await sleep(3000);
  const { received, p50Ms, p99Ms, longestMs } = await clients.report();
  const lost = received.reduce((sum, each) => sum + count - each, 0);
  console.log(`${count} changes in ${elapsed.toFixed(1)} s to ${watchers} streams on ${values.database}:`);
  console.log(`  not received ${lost} of ${count * watchers}`);
  console.log(`  delay p50 ${p50Ms} ms, p99 ${p99Ms} ms, longest ${longestMs} ms`);
}

/** Returns the memory of a process after a rest, and its share of a core in the ten seconds of that rest. */
async function usage(pid: number): Promise<{ readonly memoryMib: number; readonly cpuPercent: number }> {
  await sleep(3000);
  const before = cpuMicrosOf(pid);
  await sleep(10_000);
  return { memoryMib: anonymousMemoryOf(pid), cpuPercent: (cpuMicrosOf(pid) - before) / 100_000 };
}

/** Opens streams in another process, on the core of the clients. */
async function openClients(plan: WatchPlan): Promise<AsyncDisposable & { report(): Promise<WatchReport> }> {
  const program = fileURLToPath(new URL("watch-client.ts", import.meta.url));
  const child = spawn("taskset", [...pinned(loadCore, "one"), process.execPath, program], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const { done, value } = await lines.next();
    if (done) throw new Error("the clients ended");
    return value;
  };
  child.stdin.write(`${JSON.stringify(plan)}\n`);
  await next();
  return {
    async report() {
      child.stdin.write("\n");
      return JSON.parse(await next());
    },
    async [Symbol.asyncDispose]() {
      child.kill();
    },
  };
}

async function callRest(agent: Agent, url: string, token: string, method: string, body?: object) {
  const headers = { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) };
  const { statusCode, content } = await new Promise<{ statusCode: number; content: string }>((resolve, reject) => {
    const sent = request(url, { method, agent, headers }, async (response) =>
      resolve({ statusCode: response.statusCode ?? 0, content: await text(response) }),
    );
    sent.on("error", reject).end(body && JSON.stringify(body));
  });
  if (statusCode !== 200) throw new Error(`HTTP ${statusCode}: ${content}`);
  return JSON.parse(content);
}
