// `npm run bench -- keys --before FOLDER`: CPU time of the server for each CreateGroup with an idempotency key, without one, and for each
// GetGroup, next to the same server of another checkout (the release before) in one run. Slices of requests take turns, so others on the
// machine slow down all alike. Without --before, this checkout alone.
import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import BetterSqlite from "better-sqlite3";
import { type DebianServer, startDebianPostgres } from "../test/harness/debian-postgres.ts";
import { firstStatusOf } from "./gatehouse.ts";
import { cpuMicrosOf } from "./proc.ts";
import { freePort, startServerProcess } from "./server-process.ts";
import { median } from "./statistics.ts";

const { values } = parseArgs({
  options: {
    before: { type: "string" },
    database: { type: "string", default: "sqlite" },
    outcomes: { type: "string", default: "100000" },
    slices: { type: "string", default: "8" },
    requests: { type: "string", default: "1000" },
    concurrency: { type: "string", default: "8" },
  },
});
const [requests, concurrency, outcomes] = [values.requests, values.concurrency, values.outcomes].map(Number) as [
  number,
  number,
  number,
];
const agent = new Agent({ keepAlive: true, maxSockets: concurrency });

/** A server with an organization. */
interface Subject extends AsyncDisposable {
  readonly pid: number;
  readonly url: string;
  readonly groupUid: string;
  readonly token: string;
}

/** One kind of request, and the servers that it is sent to. */
interface Kind {
  readonly name: string;
  readonly subject: Subject;
  send(subject: Subject): Promise<number>;
}

await main();

async function main(): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const postgres = values.database === "postgres" ? opened.use(await startDebianPostgres()) : undefined;
  const before =
    values.before === undefined ? undefined : opened.use(await openSubject(values.before, postgres, "before"));
  const now = opened.use(await openSubject(fileURLToPath(new URL("..", import.meta.url)), postgres, "now"));
  const kinds: Kind[] = [
    ...(before ? [before] : []).flatMap((subject) => kindsOf("before", subject)),
    ...kindsOf("now", now),
    {
      name: "now, CreateGroup with a key",
      subject: now,
      send: (one) => create(one, { "idempotency-key": randomUUID() }),
    },
  ];
  const results = new Map(kinds.map(({ name }) => [name, [] as number[]]));
  // The first slices warm up and do not count.
  for (let slice = -2; slice < Number(values.slices); slice++)
    for (const kind of slice % 2 === 0 ? kinds : kinds.toReversed()) {
      const micros = await measure(kind);
      if (slice >= 0) results.get(kind.name)!.push(micros);
    }
  report(results);
  agent.destroy();
}

function report(results: ReadonlyMap<string, readonly number[]>): void {
  console.log(
    `CPU time of the server for each request on ${values.database}, with ${outcomes} stored outcomes, in microseconds\n`,
  );
  for (const [name, all] of results)
    console.log(`${name.padEnd(30)} median ${median([...all]).toFixed(0)}  best ${Math.min(...all).toFixed(0)}`);
  for (const [what, over, under] of [
    ["with a key, to without", "now, CreateGroup with a key", "now, CreateGroup"],
    ["CreateGroup, now to before", "now, CreateGroup", "before, CreateGroup"],
    ["GetGroup, now to before", "now, GetGroup", "before, GetGroup"],
  ] as const) {
    const [a, b] = [results.get(over), results.get(under)];
    if (a && b)
      console.log(`${what.padEnd(30)} ratio of slices, median ${median(a.map((each, i) => each / b[i]!)).toFixed(3)}`);
  }
}

async function measure({ subject, send }: Kind): Promise<number> {
  let left = requests;
  const before = cpuMicrosOf(subject.pid);
  const senders = Array.from({ length: concurrency }, async () => {
    while (left-- > 0) {
      const status = await send(subject);
      if (status !== 200) throw new Error(`HTTP ${status}`);
    }
  });
  await Promise.all(senders);
  return (cpuMicrosOf(subject.pid) - before) / requests;
}

function kindsOf(name: string, subject: Subject): Kind[] {
  return [
    { name: `${name}, CreateGroup`, subject, send: (one) => create(one) },
    { name: `${name}, GetGroup`, subject, send: (one) => status(one, `/iam/v2beta1/groups/${one.groupUid}`) },
  ];
}

function create(subject: Subject, headers: Record<string, string> = {}): Promise<number> {
  return status(subject, `/iam/v2beta1/groups/${subject.groupUid}`, headers, {
    name: "group",
    description: randomUUID(),
  });
}

async function openSubject(folder: string, postgres: DebianServer | undefined, name: string): Promise<Subject> {
  const data = mkdtempSync(path.join(tmpdir(), "gatehouse-keys-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const database = postgres?.url(name);
  if (postgres) await postgres.query(`CREATE DATABASE ${name}`);
  const args = [
    "--max-semi-space-size=8",
    path.join(folder, "src/gatehouse.js"),
    "serve",
    "--dev",
    "--listen",
    `127.0.0.1:${port}`,
  ];
  const own = ["--data-dir", data, "--log-level", "silent", ...(database ? ["--database-url", database] : [])];
  const server = await startServerProcess(process.execPath, [...args, ...own], port);
  await firstStatusOf(`${url}/readyz`);
  const token = readFileSync(path.join(data, "owner-token"), "utf8").trim();
  const subject = { pid: server.pid, url, groupUid: "", token };
  const { groups } = JSON.parse((await answer(subject, "/iam/v2beta1/groups")).body);
  const groupUid: string = groups.find(({ name: one }: { name: string }) => one === "example.org").uid;
  if (name === "now") await storeOutcomes(data, database, groupUid);
  return {
    ...subject,
    groupUid,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** Stores outcomes of other calls, each as long as that of a group. */
async function storeOutcomes(data: string, database: string | undefined, organization: string): Promise<void> {
  const expireTime = Date.now() + 24 * 3_600_000;
  const rows = Array.from({ length: outcomes }, () => ({
    keyDigest: randomBytes(32).toString("hex"),
    requestDigest: randomBytes(32).toString("hex"),
    outcome: randomBytes(180).toString("base64"),
  }));
  const columns = "(key_digest, organization, request_digest, outcome, expire_time)";
  if (database) {
    const { default: pg } = await import("pg");
    const client = new pg.Client({ connectionString: database });
    await client.connect();
    const text = `INSERT INTO call_outcomes ${columns} SELECT "keyDigest", $2, "requestDigest", outcome, $3
      FROM json_to_recordset($1::json) AS rows("keyDigest" text, "requestDigest" text, outcome text)`;
    await client.query(text, [JSON.stringify(rows), organization, expireTime]);
    await client.query("ANALYZE call_outcomes");
    await client.end();
    return;
  }
  const file = new BetterSqlite(path.join(data, "gatehouse.db"));
  const statement = file.prepare(`INSERT INTO call_outcomes ${columns} VALUES (?, ?, ?, ?, ?)`);
  file.transaction(() => {
    for (const { keyDigest, requestDigest, outcome } of rows)
      statement.run(keyDigest, organization, requestDigest, outcome, expireTime);
  })();
  file.close();
}

async function status(subject: Subject, route: string, headers = {}, body?: object): Promise<number> {
  return (await answer(subject, route, headers, body)).status;
}

async function answer({ url, token }: Pick<Subject, "url" | "token">, route: string, more = {}, body?: object) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }), ...more };
    const sent = request(url + route, { method: body ? "POST" : "GET", agent, headers }, resolve).on("error", reject);
    sent.end(body && JSON.stringify(body));
  });
  return { status: response.statusCode ?? 0, body: await text(response) };
}
