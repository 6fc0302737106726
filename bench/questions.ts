// `npm run bench -- questions`: what others' reads take while eight callers with a viewer's role loop the most expensive question of each
// service, next to the same reads without them. The server has one core, this program another.
import { execFileSync } from "node:child_process";
import { Agent, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { systemClock } from "../src/base/clock.ts";
import { openDatabase } from "../src/storage/database.ts";
import { defaultDatabaseLimits } from "../src/storage/engine/dialect.ts";
import { copyData, prepareData } from "./data.ts";
import { type Gatehouse, startGatehouse } from "./gatehouse.ts";
import { issueOwnerToken } from "./owner-token.ts";
import {
  expensiveQuestions,
  imageDocuments,
  imageQuestions,
  imageRecords,
  type Question,
  questionRecords,
} from "./questions-asked.ts";
import { loadCore } from "./server-process.ts";
import { percentile } from "./statistics.ts";

const { values } = parseArgs({
  options: {
    groups: { type: "string", default: "100000" },
    seconds: { type: "string", default: "20" },
    callers: { type: "string", default: "8" },
    only: { type: "string", default: "" },
    data: { type: "string", default: path.join(tmpdir(), "gatehouse-bench") },
  },
});

const source = fileURLToPath(new URL("../src/gatehouse.js", import.meta.url));
const readers = 4;
const readPauseMs = 5;
const agent = new Agent({ keepAlive: true });

execFileSync("taskset", ["-cp", String(loadCore), String(process.pid)], { stdio: "ignore" });
await main();

async function main(): Promise<void> {
  const kept = await prepareData(Number(values.groups), { directory: values.data, report: console.log });
  using data = copyData(kept);
  await using server = await startGatehouse(data, [], source);
  const { groupUid } = server.landmarks;
  for (const records of [...questionRecords(), ...imageRecords()])
    await post(server, `/gatehouse/vulnerabilities/v1/records/${groupUid}:import`, { records });
  const repoUid = await addImages(server, groupUid);
  const tokens = await viewerTokens(server, data.directory, Number(values.callers));
  const all = [...imageQuestions(repoUid, groupUid), ...expensiveQuestions(server.landmarks)];
  const questions = all.filter(({ name }) => name.includes(values.only));
  const seconds = Number(values.seconds);
  await readFor(server, 2);
  const alone = await readFor(server, seconds);
  report("reads alone", alone);
  const answers = new Map<string, Map<number, number>>();
  const end = new AbortController();
  const loops = tokens.map((token, i) => loop(server, token, questions, i, answers, end.signal));
  await pause(1000);
  const during = await readFor(server, seconds);
  report(`reads while ${tokens.length} callers ask`, during);
  end.abort();
  await Promise.all(loops);
  console.log(`p99 is ${(percentile(during, 99) / percentile(alone, 99)).toFixed(1)} times as long`);
  for (const [name, statuses] of answers)
    console.log(`  ${name}: ${[...statuses].map(([status, count]) => `${count} × ${status}`).join(", ")}`);
  agent.destroy();
}

/** Reads groups and pages of groups for a while. Returns the sorted latencies in milliseconds. */
async function readFor(server: Gatehouse, seconds: number): Promise<Float64Array> {
  const { sampleUids, teamUid } = server.landmarks;
  const until = performance.now() + 1000 * seconds;
  const latencies: number[] = [];
  const reader = async (first: number) => {
    for (let i = first; performance.now() < until; i++) {
      const uid = sampleUids[i % sampleUids.length]!;
      const list = `/iam/v2beta1/groups?uidp.descendants_of=${encodeURIComponent(teamUid)}&page_size=20&skip=${i % 500}`;
      const startedAt = performance.now();
      const { status } = await send(
        server,
        server.authorization,
        i % 2 === 0 ? { path: `/iam/v2beta1/groups/${uid}` } : { path: list },
      );
      if (status !== 200) throw new Error(`a read failed with ${status}`);
      latencies.push(performance.now() - startedAt);
      await pause(readPauseMs);
    }
  };
  await Promise.all(Array.from({ length: readers }, (_, i) => reader(100 * i)));
  return Float64Array.from(latencies).sort();
}

/** Asks one question after another, as fast as they are answered. */
async function loop(
  server: Gatehouse,
  token: string,
  questions: readonly Question[],
  first: number,
  answers: Map<string, Map<number, number>>,
  signal: AbortSignal,
): Promise<void> {
  for (let i = first; !signal.aborted; i++) {
    const question = questions[i % questions.length]!;
    const { status, retryAfter } = await send(server, `Bearer ${token}`, question);
    const statuses = answers.get(question.name) ?? new Map<number, number>();
    answers.set(question.name, statuses.set(status, (statuses.get(status) ?? 0) + 1));
    // A rejected caller that does not wait costs little, but it is not what is measured here.
    if (status === 429) await pause(Math.min(1000 * Number(retryAfter), 50));
  }
}

async function send(
  { url }: Gatehouse,
  authorization: string,
  { path: target, body }: Pick<Question, "path" | "body">,
) {
  const headers = { authorization, ...(body !== undefined && { "content-type": "application/json" }) };
  const sent = request(`${url}${target}`, { agent, method: body === undefined ? "GET" : "POST", headers });
  const answered = new Promise<IncomingMessage>((resolve, reject) => sent.on("response", resolve).on("error", reject));
  sent.end(body);
  const response = await answered;
  const received = await text(response);
  return { status: response.statusCode!, retryAfter: response.headers["retry-after"], received };
}

/** Calls a method as the owner. Returns the body of the response. */
// biome-ignore lint/suspicious/noExplicitAny: the responses of several methods
async function post(server: Gatehouse, target: string, body: object): Promise<any> {
  const { status, received } = await send(server, server.authorization, { path: target, body: JSON.stringify(body) });
  if (status !== 200) throw new Error(`${target} failed: ${received}`);
  return JSON.parse(received);
}

/** Adds a repo with images, and waits until their findings are known. Returns its uid. */
async function addImages(server: Gatehouse, groupUid: string): Promise<string> {
  const { uid } = await post(server, `/registry/v2beta1/repos/${groupUid}`, { name: "images" });
  let last = "";
  for (const { tag, content } of imageDocuments()) {
    await post(server, `/registry/v2beta1/tags/${uid}`, tag);
    await post(server, `/gatehouse/registry/v1/images/${uid}:putSbom`, { digest: tag.digest, content });
    last = tag.digest;
  }
  const path = `/gatehouse/registry/v1/images/${uid}:listFindings?digest=${last}`;
  while (JSON.parse((await send(server, server.authorization, { path })).received).state !== "CHECK_STATE_CHECKED")
    await pause(500);
  return uid;
}

/** Creates identities with a viewer's role, and returns a token of each. */
async function viewerTokens(server: Gatehouse, directory: string, count: number): Promise<string[]> {
  const { groupUid } = server.landmarks;
  const { roles } = JSON.parse(
    (await send(server, server.authorization, { path: "/iam/v2beta1/roles?name=viewer" })).received,
  );
  const database = await openDatabase(path.join(directory, "gatehouse.db"), defaultDatabaseLimits);
  try {
    const { tokens } = await issueOwnerToken(database, directory, server.landmarks, server.url);
    const issued: string[] = [];
    for (let i = 0; i < count; i++) {
      const claimMatch = { issuer: "https://issuer.example.org", subject: `viewer-${i}-${systemClock()}` };
      const { uid } = await post(server, `/iam/v2beta1/identities/${groupUid}`, { name: `viewer-${i}`, claimMatch });
      await post(server, `/iam/v2beta1/roleBindings/${groupUid}`, { identityUid: uid, roleUid: roles[0].uid });
      const act = { iss: server.url, sub: uid, aud: server.url };
      issued.push((await tokens.issue({ subject: uid, audience: [server.url], act, grants: {}, narrowing: {} })).token);
    }
    return issued;
  } finally {
    await database.close();
  }
}

function report(what: string, sorted: Float64Array): void {
  const [p50, p99, max] = [percentile(sorted, 50), percentile(sorted, 99), sorted.at(-1) ?? 0];
  console.log(
    `${what}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, longest ${max.toFixed(0)} ms, ${sorted.length} reads`,
  );
}
