// `npm run bench -- fairness`: three organizations loop the largest plans, dry runs, applies, deletions and imports; a fourth writes once a second.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { ownerRole } from "../src/authz/built-in-roles.ts";
import { newChild } from "../src/model/uid.ts";
import { openDatabase } from "../src/storage/database.ts";
import { defaultDatabaseLimits } from "../src/storage/engine/dialect.ts";
import { newPostgresDatabase, stopPostgres } from "../test/harness/postgres.ts";
import { startGatehouse, startProduction } from "./gatehouse.ts";
import { issueOwnerToken } from "./owner-token.ts";
import { cpuMicrosOf, cpuMicrosOfChildren } from "./proc.ts";
import { percentile } from "./statistics.ts";

const { values } = parseArgs({
  options: {
    on: { type: "string", default: "sqlite,workers,postgres" },
    seconds: { type: "string", default: "30" },
    groups: { type: "string", default: "9900" },
  },
});
const groupCount = Number(values.groups);
const service = "/gatehouse.apply.v1.ApplyService/";
const importMethod = "/gatehouse.organizations.v1.OrganizationImportService/ImportResources";
/** The CPU time of a second in which a server rests, in microseconds. */
const restingMicros = 30_000;
/** How far apart the responses of one commit arrive at most. */
const sameCommitMs = 20;
/** The maximum of a request. */
const importBatch = 500;
const iam = "/chainguard.platform.iam.v2beta1.";
const seconds = Math.min(120, Number(values.seconds));

/** A caller of the API. */
interface Caller {
  readonly url: string;
  readonly authorization: string;
}

/** An organization, with an owner of its own. */
interface Organization extends Caller {
  readonly groupUid: string;
}

interface Response {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the responses of several methods
  readonly body: any;
}

for (const on of values.on.split(",")) await measure(on);
await stopPostgres();

async function call({ url, authorization }: Caller, target: string, body: object): Promise<Response> {
  const headers = { authorization, "content-type": "application/json" };
  const response = await fetch(url + target, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, body: await response.json() };
}

async function requireOk(caller: Caller, target: string, body: object): Promise<Response["body"]> {
  const { status, body: found } = await call(caller, target, body);
  if (status !== 200) throw new Error(`${target}: ${status} ${JSON.stringify(found).slice(0, 300)}`);
  return found;
}

async function measure(on: string): Promise<void> {
  const directory = mkdtempSync(path.join(tmpdir(), "gatehouse-fairness-"));
  try {
    const databaseUrl = on === "postgres" ? await newPostgresDatabase() : undefined;
    const { made, operatorUid } = await makeOrganizations(directory, databaseUrl);
    const settings = databaseUrl === undefined ? [] : ["--database-url", databaseUrl];
    const landmarks = { ownerUid: made[0]!.ownerUid } as never;
    await using server =
      on === "workers"
        ? await startProduction({ directory, landmarks }, { workers: "2", cores: "all" })
        : await startGatehouse({ directory, landmarks }, [], undefined, settings);
    const database = await openDatabase(databaseUrl ?? path.join(directory, "gatehouse.db"), defaultDatabaseLimits);
    const organizations: Organization[] = [];
    for (const { ownerUid, groupUid } of made) {
      const { token } = await issueOwnerToken(database, directory, { ownerUid }, server.url);
      organizations.push({ url: server.url, authorization: `Bearer ${token}`, groupUid });
    }
    const { token: operatorToken } = await issueOwnerToken(database, directory, { ownerUid: operatorUid }, server.url);
    const operator: Caller = { url: server.url, authorization: `Bearer ${operatorToken}` };
    await database.close();
    await run(`${on}: plans and dry runs`, organizations, async (each, send) => {
      await send(each, `${service}ApplyResources`, {
        groupUid: each.groupUid,
        resources: groups(groupCount),
        planOnly: true,
      });
      await send(each, `${service}ApplyResources`, {
        groupUid: each.groupUid,
        resources: groups(groupCount),
        validateOnly: true,
      });
    });
    await run(`${on}: applies and deletions`, organizations, async (each, send) => {
      const resources = [{ group: { name: "all" } }, ...groups(groupCount, "all")];
      const { body } = await send(each, `${service}ApplyResources`, { groupUid: each.groupUid, resources });
      const uid = body.changes?.find((change: { name: string }) => change.name === "all")?.uid;
      if (uid) await send(each, `${service}DestroySubtree`, { groupUid: uid });
    });
    await run(`${on}: imports and deletions`, organizations, async (each, send) => {
      const uid = await importGroups(operator, each.groupUid, groupCount, send);
      await send(each, `${service}DestroySubtree`, { groupUid: uid });
    });
    await compareCpu(on, server.pid, organizations[0]!, operator);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Makes the organizations on a server in development mode, whose owner owns everything. */
async function makeOrganizations(directory: string, databaseUrl: string | undefined) {
  const settings = databaseUrl === undefined ? [] : ["--database-url", databaseUrl];
  await using server = await startGatehouse({ directory, landmarks: {} as never }, [], undefined, settings);
  const made: { readonly groupUid: string; readonly ownerUid: string }[] = [];
  for (const name of ["one", "two", "three", "fourth"]) {
    const { uid: groupUid } = await requireOk(server, `${iam}GroupsService/CreateGroup`, { group: { name } });
    const claimMatch = { issuer: "https://issuer.example.org", subject: name, audience: "fairness" };
    const identity = { name: "owner", claimMatch };
    const { uid: ownerUid } = await requireOk(server, `${iam}IdentitiesService/CreateIdentity`, {
      parent: groupUid,
      identity,
    });
    const roleBinding = { identityUid: ownerUid, roleUid: ownerRole.uid };
    await requireOk(server, `${iam}RoleBindingsService/CreateRoleBinding`, { parent: groupUid, roleBinding });
    made.push({ groupUid, ownerUid });
  }
  const claims = Buffer.from(server.authorization.split(".")[1]!, "base64url").toString();
  return { made, operatorUid: JSON.parse(claims).sub as string };
}

/** Imports groups into a new group, as the command does: so many in each request. Returns the uid of the group. */
async function importGroups(operator: Caller, parent: string, count: number, send: typeof call): Promise<string> {
  const uid = newChild(parent);
  const children = Array.from({ length: count }, (_, i) => ({ uid: newChild(uid), name: `group-${i}` }));
  const resources = [{ uid, name: "imported" }, ...children].map((group) => ({ group }));
  for (let i = 0; i < resources.length; i += importBatch)
    await send(operator, importMethod, { organizationUid: parent, resources: resources.slice(i, i + importBatch) });
  return uid;
}

function groups(count: number, group = "") {
  return Array.from({ length: count }, (_, i) => ({ group: { group, name: `group-${i}`, description: "generated" } }));
}

/**
 * Loops the load of all organizations but the last, which writes once a second. Prints how long its writes took, and how many commits of
 * the others ended while one of them waited.
 */
async function run(
  title: string,
  organizations: readonly Organization[],
  load: (each: Organization, send: typeof call) => Promise<void>,
) {
  const end = performance.now() + seconds * 1000;
  const ends: number[] = [];
  const send: typeof call = async (...request) => {
    const response = await call(...request);
    ends.push(performance.now());
    return response;
  };
  let loops = 0;
  const loaded = organizations.slice(0, -1).map(async (each) => {
    while (performance.now() < end) {
      const began = performance.now();
      await load(each, send);
      loops++;
      // A caller over its budget is told to wait.
      if (performance.now() - began < 100) await pause(1000);
    }
  });
  const times: number[] = [];
  let mostWaitedFor = 0;
  let rejected = 0;
  const fourth = organizations.at(-1)!;
  for (let i = 0; performance.now() < end; i++) {
    const began = performance.now();
    const group = { name: `write-${title.replaceAll(/[^a-z]/g, "-")}-${i}` };
    const { status } = await call(fourth, `${iam}GroupsService/CreateGroup`, { parent: fourth.groupUid, group });
    const ended = performance.now();
    if (status === 200) times.push(ended - began);
    else rejected++;
    const during = ends.filter((at) => at > began && at < ended).sort((x, y) => x - y);
    mostWaitedFor = Math.max(mostWaitedFor, commitsOf(during));
    await pause(Math.max(0, 1000 - (performance.now() - began)));
  }
  await Promise.all(loaded);
  times.sort((a, b) => a - b);
  const [p50, p99] = [50, 99].map((percent) => Math.round(percentile(times, percent)));
  console.log(
    `${title}: ${times.length} writes, p50 ${p50} ms, p99 ${p99} ms, ${rejected} rejected; ` +
      `${loops} loops of others, of whose commits at most ${mostWaitedFor} ended during one write`,
  );
}

/** Returns how many commits ended at these times: the requests of one commit are answered within moments. */
function commitsOf(sortedTimes: readonly number[]): number {
  return sortedTimes.filter((at, i) => i === 0 || at - sortedTimes[i - 1]! > sameCommitMs).length;
}

/** Prints the CPU time of each resource at two sizes, and its ratio: the median of three rounds. */
async function compareCpu(on: string, pid: number, organization: Organization, operator: Caller): Promise<void> {
  const ratios: Record<string, number[]> = {};
  for (let round = 0; round < 3; round++) {
    const cpuOf = (count: number) => measureCpu(`${on}: ${count} resources`, pid, organization, operator, count);
    const few = await cpuOf(1_000);
    for (const [what, us] of Object.entries(await cpuOf(9_000)))
      ratios[what] = [...(ratios[what] ?? []), us / few[what]!];
  }
  const medians = Object.entries(ratios).map(
    ([what, found]) => `${what} ${found.sort((x, y) => x - y)[1]!.toFixed(2)}`,
  );
  console.log(`${on}: CPU of each of 9000 by that of each of 1000: ${medians.join(", ")}`);
}

async function measureCpu(
  title: string,
  pid: number,
  { groupUid, ...caller }: Organization,
  operator: Caller,
  count: number,
): Promise<Record<string, number>> {
  const used = async (work: () => Promise<unknown>) => {
    const before = await settledCpuMicros(pid);
    await work();
    return Math.round(((await settledCpuMicros(pid)) - before) / count);
  };
  let uid = "";
  const resources = [{ group: { name: "all" } }, ...groups(count, "all")];
  const applied = await used(async () => {
    const body = await requireOk(caller, `${service}ApplyResources`, { groupUid, resources });
    uid = body.changes.find((change: { name: string }) => change.name === "all").uid;
  });
  const deleted = await used(() => requireOk(caller, `${service}DestroySubtree`, { groupUid: uid }));
  const imported = await used(async () => {
    uid = await importGroups(operator, groupUid, count, requireOk);
  });
  await requireOk(caller, `${service}DestroySubtree`, { groupUid: uid });
  console.log(`${title}: an apply takes ${applied} us of CPU each, a deletion ${deleted} us, an import ${imported} us`);
  return { "an apply": applied, "a deletion": deleted, "an import": imported };
}

/**
 * Returns the CPU time of a server and of PostgreSQL if it has one, as soon as they rest: some work is done after the response, and belongs
 * to the call before.
 */
async function settledCpuMicros(pid: number): Promise<number> {
  const used = () => cpuMicrosOf(pid) + cpuMicrosOfChildren(process.pid, "postgres");
  for (let before = used(); ; ) {
    await pause(1000);
    const now = used();
    if (now - before < restingMicros) return now;
    before = now;
  }
}
