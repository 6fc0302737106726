// Searches and evaluations of a generated organization agree with each other, and with a model of a few lines.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { findCapability } from "../../src/model/capabilities.ts";
import { isWithin } from "../../src/model/uid.ts";
import { effectiveGroup } from "../../src/storage/iam/grants.ts";
import { insertSuspension } from "../../src/storage/iam/scim-suspensions.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { createProvider } from "../scim/provisioning.ts";
import { addRepo } from "../security/registry-tree.ts";
import { addGroup, addIdentity, addPerson, addRole, arrange, bind, viewerRole } from "../security/tree.ts";
import { type Answer, ask } from "./ask.ts";

after(stopPostgres);

/** How many times as large as usual the organization is: `GATEHOUSE_TEST_SCALE=7` asks more than 100,000 questions. */
const scale = Number(process.env.GATEHOUSE_TEST_SCALE ?? 1);

const capabilities = [
  Capability.CAP_IAM_GROUPS_LIST,
  Capability.CAP_IAM_GROUPS_DELETE,
  Capability.CAP_REPO_LIST,
  Capability.CAP_REPO_UPDATE,
  Capability.CAP_IAM_IDENTITY_LIST,
];

interface Entity {
  readonly type: string;
  readonly id: string;
}

interface Organization {
  readonly subjects: readonly Entity[];
  readonly resources: readonly Entity[];
  /** Whether a subject may perform an action on a resource. */
  may(subject: Entity, action: number, resource: Entity): boolean;
}

for (const database of databases)
  describe(`searches and evaluations on ${database}`, () => {
    it("a search finds exactly what an evaluation permits", async () => {
      await using server = await startTestServer({ database });
      const organization = await generate(server, newRandom(7));
      const tokens: string[] = [];
      for (let i = 0; i < 16 * scale ** 2; i++) {
        const client = await addPerson(server, `client-${i}`, `client-${i}@example.org`, server.groupUid);
        await bind(server, server.groupUid, client, viewerRole.uid);
        tokens.push(await server.tokenOf(client));
      }
      let asked = 0;
      /** Computing time of people is counted for each of them, so they take turns. */
      const send = async (endpoint: string, body: object) => {
        // A page token belongs to its client.
        if (!("page" in body)) asked++;
        const reply = await ask(server, tokens[asked % tokens.length]!, endpoint, body);
        assert.equal(reply.status, 200, reply.text);
        return reply.body;
      };
      const permitted = await evaluateAll(send, organization);
      await compare(send, organization, permitted);
      assert.ok(permitted.size > 100, "some questions are permitted");
    });
  });

type Send = (endpoint: string, body: object) => Promise<Answer["body"]>;

const keyOf = (subject: Entity, action: number, resource: Entity) => `${subject.id} ${action} ${resource.id}`;
const nameOf = (action: number) => findCapability(action)!.name;

/** Asks every question, in batches, and returns the keys of those that are permitted. Each answer is that of the model. */
async function evaluateAll(send: Send, { subjects, resources, may }: Organization): Promise<ReadonlySet<string>> {
  const permitted = new Set<string>();
  const questions = subjects.flatMap((subject) =>
    capabilities.flatMap((action) => resources.map((resource) => ({ subject, action, resource }))),
  );
  for (let at = 0; at < questions.length; at += 100) {
    const batch = questions.slice(at, at + 100);
    const items = batch.map(({ action, ...rest }) => ({ ...rest, action: { name: nameOf(action) } }));
    const { evaluations } = await send("evaluations", { evaluations: items });
    for (const [index, { subject, action, resource }] of batch.entries()) {
      const { decision } = evaluations[index];
      assert.equal(decision, may(subject, action, resource), keyOf(subject, action, resource));
      if (decision) permitted.add(keyOf(subject, action, resource));
    }
  }
  return permitted;
}

/** Makes every search, and compares what it finds with the permitted questions. */
async function compare(send: Send, { subjects, resources }: Organization, permitted: ReadonlySet<string>) {
  const has = (subject: Entity, action: number, resource: Entity) => permitted.has(keyOf(subject, action, resource));
  for (const action of capabilities)
    for (const resource of resources)
      for (const type of ["user", "identity"]) {
        const body = { subject: { type }, action: { name: nameOf(action) }, resource };
        const found = await idsAmong(send, "search/subject", body, subjects);
        const expected = subjects.filter(
          (each) => has(each, action, resource) && (type === "identity" || each.type === type),
        );
        assert.deepEqual(found, expected.map(({ id }) => id).sort());
      }
  for (const subject of subjects)
    for (const action of capabilities)
      for (const type of ["group", "repo", "identity", "role"]) {
        const body = { subject, action: { name: nameOf(action) }, resource: { type } };
        const found = await idsAmong(send, "search/resource", body, resources);
        const expected = resources.filter((each) => each.type === type && has(subject, action, each));
        assert.deepEqual(found, expected.map(({ id }) => id).sort());
      }
  for (const subject of subjects)
    for (const resource of resources) {
      const { results } = await send("search/action", { subject, resource });
      const found = new Set(results.map(({ name }: { name: string }) => name));
      for (const action of capabilities) assert.equal(found.has(nameOf(action)), has(subject, action, resource));
    }
}

/** Returns what all pages of a search found of some entities. */
async function idsAmong(send: Send, endpoint: string, body: object, known: readonly Entity[]): Promise<string[]> {
  const ids = new Set(known.map(({ id }) => id));
  const found: string[] = [];
  let token = "";
  do {
    const { page, results } = await send(endpoint, token === "" ? body : { ...body, page: { token } });
    found.push(...results.map(({ id }: Entity) => id).filter((id: string) => ids.has(id)));
    token = page.next_token;
  } while (token !== "");
  return found.sort();
}

/** Makes a tree of groups with repos, roles, workloads and people, and role bindings at random. One person is suspended. */
async function generate(server: TestServer, random: (below: number) => number): Promise<Organization> {
  const pick = <T>(all: readonly T[]) => all[random(all.length)]!;
  const groups = [server.groupUid];
  for (let i = 0; i < 9 * scale; i++) groups.push(await addGroup(server, pick(groups), `group-${i}`));
  const [repos, roles, workloads, people] = [[], [], [], []] as [string[], string[], string[], string[]];
  for (let i = 0; i < 8 * scale; i++) repos.push(await addRepo(server, pick(groups)));
  const capabilitiesOf = new Map<string, number[]>();
  for (let i = 0; i < 4; i++) {
    const given = capabilities.filter(() => random(2) === 0);
    const uid = await addRole(server, server.groupUid, given);
    roles.push(uid);
    capabilitiesOf.set(uid, given);
  }
  const elsewhere = await addGroup(server, null, "elsewhere.example");
  for (let i = 0; i < 11 * scale; i++)
    workloads.push(await addIdentity(server, i % 8 === 0 ? elsewhere : pick(groups)));
  for (let i = 0; i < 5 * scale; i++)
    people.push(await addPerson(server, `person-${i}`, `person-${i}@example.org`, server.groupUid));
  const bindings: { identity: string; group: string; role: string; isInForce: boolean }[] = [];
  for (let i = 0; i < 40 * scale; i++) {
    const binding = { identity: pick([...workloads, ...people]), group: pick(groups), role: pick(roles) };
    if (bindings.some(({ identity, group }) => identity === binding.identity && group === binding.group)) continue;
    const { isInForce, ...term } = pick(termsAround(server.clock()));
    await bind(server, binding.group, binding.identity, binding.role, term);
    bindings.push({ ...binding, isInForce });
  }
  const suspended = bindings.map(({ identity }) => identity).find((uid) => people.includes(uid));
  const provider = await createProvider(server);
  if (suspended) await arrange(server, (tx) => insertSuspension(tx, provider, suspended));
  const entities = (type: string, ids: readonly string[]) => ids.map((id) => ({ type, id }));
  const inside = workloads.filter((uid) => isWithin(uid, server.groupUid));
  return {
    subjects: [...entities("identity", workloads), ...entities("user", people)],
    resources: [
      ...entities("group", groups),
      ...entities("repo", repos),
      ...entities("identity", inside),
      ...entities("role", roles),
    ],
    may: (subject, action, resource) =>
      subject.id !== suspended &&
      bindings.some(({ identity, group, role, isInForce }) => {
        const effective = isInForce && identity === subject.id ? effectiveGroup(identity, group) : undefined;
        return (
          effective !== undefined && isWithin(resource.id, effective) && capabilitiesOf.get(role)!.includes(action)
        );
      }),
  };
}

/** Returns terms of role bindings, and whether they are in force at a time. */
function termsAround(now: number) {
  const hour = 3_600_000;
  return [
    { isInForce: true },
    { isInForce: true, startTime: now - hour, expireTime: now + hour },
    { isInForce: false, expireTime: now - 1 },
    { isInForce: false, startTime: now + hour },
  ];
}

/** Returns numbers below a limit that are the same in each run. */
function newRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
