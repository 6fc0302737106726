// `npm run bench -- exchange --before FOLDER`: CPU time of the server for each token exchange and registry sign-in, next to the same
// server of another checkout (the release before) in one run. Slices of requests take turns, so others on the machine slow down both
// alike. Without --before, this checkout alone.
import { generateKeyPairSync, sign } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { firstStatusOf } from "./gatehouse.ts";
import { cpuMicrosOf } from "./proc.ts";
import { freePort, type ServerProcess, startServerProcess } from "./server-process.ts";
import { median } from "./statistics.ts";

const { values } = parseArgs({
  options: {
    before: { type: "string" },
    slices: { type: "string", default: "6" },
    requests: { type: "string", default: "800" },
  },
});
const requests = Number(values.requests);
const agent = new Agent({ keepAlive: true });

/** The viewer role of the published platform. */
const viewer = "viewer";

/** A server with an organization, an identity of a workload and a group to read. */
interface Subject extends AsyncDisposable {
  readonly pid: number;
  readonly url: string;
  readonly identity: string;
  readonly groupUid: string;
  readonly ownerToken: string;
}

/** One kind of request. */
interface Kind {
  readonly name: string;
  send(subject: Subject, i: number): Promise<number>;
}

await main();

async function main(): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const issuer = await startIssuer();
  opened.defer(() => issuer.close());
  const here = fileURLToPath(new URL("..", import.meta.url));
  const subjects = new Map<string, Subject>();
  for (const [name, folder] of [
    ["before", values.before],
    ["now", here],
  ] as const)
    if (folder !== undefined) subjects.set(name, opened.use(await openSubject(folder, issuer.url)));
  const kinds = kindsOf(issuer);
  const results = new Map(
    kinds.map(({ name }) => [name, new Map([...subjects.keys()].map((one) => [one, [] as number[]]))]),
  );
  // The first slice warms up and does not count.
  for (let slice = 0; slice <= Number(values.slices); slice++)
    for (const kind of kinds)
      for (const [name, subject] of subjects) {
        const micros = await measure(kind, subject, slice);
        if (slice > 0) results.get(kind.name)!.get(name)!.push(micros);
      }
  console.log("CPU time of the server for each request in microseconds: best (median)\n");
  for (const [kind, bySubject] of results) {
    const cells = [...bySubject].map(
      ([name, all]) => `${name} ${Math.min(...all).toFixed(0)} (${median(all).toFixed(0)})`,
    );
    const [first, last] = [...bySubject.values()].map(median);
    const ratio = last === undefined ? "" : `  ratio of medians ${(last / first!).toFixed(2)}`;
    console.log(`${kind.padEnd(30)} ${cells.join("   ")}${ratio}`);
  }
  agent.destroy();
}

async function measure(kind: Kind, subject: Subject, slice: number): Promise<number> {
  const before = cpuMicrosOf(subject.pid);
  for (let i = 0; i < requests; i++) {
    const status = await kind.send(subject, slice * requests + i);
    if (status !== 200) throw new Error(`${kind.name}: ${status}`);
  }
  return (cpuMicrosOf(subject.pid) - before) / requests;
}

function kindsOf(issuer: Issuer): Kind[] {
  const repeated = new Map<Subject, string>();
  const same = (subject: Subject) => {
    if (!repeated.has(subject)) repeated.set(subject, issuer.issue(subject.url, "same"));
    return repeated.get(subject)!;
  };
  // Signed before they are sent, so the issuer takes no time between requests.
  const exchange = (subject: Subject, token: string) => {
    const query = new URLSearchParams({ aud: subject.url, identity: subject.identity });
    return send(subject, `/sts/exchange?${query}`, `Bearer ${token}`);
  };
  const signIn = (subject: Subject, token: string) =>
    send(subject, "/token?service=registry.gatehouse.internal", `Basic ${btoa(`${subject.identity}:${token}`)}`);
  return [
    { name: "exchange, distinct tokens", send: (subject, i) => exchange(subject, issuer.issue(subject.url, `${i}`)) },
    { name: "exchange, the same token", send: (subject) => exchange(subject, same(subject)) },
    { name: "/token, the same token", send: (subject) => signIn(subject, same(subject)) },
    {
      name: "GetGroup",
      send: (subject) => send(subject, `/iam/v2beta1/groups/${subject.groupUid}`, `Bearer ${subject.ownerToken}`),
    },
  ];
}

async function openSubject(folder: string, issuer: string): Promise<Subject> {
  const data = mkdtempSync(path.join(tmpdir(), "gatehouse-exchange-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const program = path.join(folder, "src/gatehouse.js");
  const args = ["serve", "--dev", "--listen", `127.0.0.1:${port}`, "--data-dir", data, "--log-level", "silent"];
  const server: ServerProcess = await startServerProcess(process.execPath, [program, ...args], port);
  await firstStatusOf(`${url}/readyz`);
  const ownerToken = readFileSync(path.join(data, "owner-token"), "utf8").trim();
  const api = async (method: string, route: string, body?: object) =>
    JSON.parse((await answer(url, route, `Bearer ${ownerToken}`, method, body)).body);
  const { groups } = await api("GET", "/iam/v2beta1/groups");
  const groupUid = groups[0].uid;
  const claimMatch = { issuer, subject: "job" };
  const { uid } = await api("POST", `/iam/v2beta1/identities/${groupUid}`, { name: "job", claimMatch });
  const { roles } = await api("GET", `/iam/v2beta1/roles?name=${viewer}`);
  await api("POST", `/iam/v2beta1/roleBindings/${groupUid}`, { identityUid: uid, roleUid: roles[0].uid });
  return {
    pid: server.pid,
    url,
    identity: uid,
    groupUid,
    ownerToken,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** An issuer on loopback, with an RSA key as the large forges have. */
type Issuer = Awaited<ReturnType<typeof startIssuer>>;

async function startIssuer() {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const jwk = { ...publicKey.export({ format: "jwk" }), kid: "1", alg: "RS256", use: "sig" };
  const server = createServer((asked, response) => {
    const own = `http://${asked.headers.host}`;
    const document = asked.url === "/keys" ? { keys: [jwk] } : { issuer: own, jwks_uri: `${own}/keys` };
    response.setHeader("content-type", "application/json").end(JSON.stringify(document));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return {
    url,
    issue(aud: string, jti: string): string {
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: url, sub: "job", aud, jti, iat: now, exp: now + 3600 };
      const input = `${encode({ alg: "RS256", kid: "1", typ: "JWT" })}.${encode(claims)}`;
      return `${input}.${sign("sha256", Buffer.from(input), privateKey).toString("base64url")}`;
    },
    close: () => void server.close(),
  };
}

async function send(subject: Subject, route: string, authorization: string): Promise<number> {
  return (await answer(subject.url, route, authorization)).status;
}

async function answer(url: string, route: string, authorization: string, method = "GET", body?: object) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization, ...(body && { "content-type": "application/json" }) };
    const sent = request(url + route, { method, agent, headers }, resolve).on("error", reject);
    sent.end(body && JSON.stringify(body));
  });
  return { status: response.statusCode ?? 0, body: await text(response) };
}
