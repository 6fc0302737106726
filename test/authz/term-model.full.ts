// Random terms, mappings and makers: at each begin and end, and a millisecond before and after it, everything that decides or tells
// about access agrees with a model of a few lines.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { hasCapability } from "../../src/model/capabilities.ts";
import { isInTerm, type Term } from "../../src/model/grants.ts";
import { isWithin, newChild } from "../../src/model/uid.ts";
import { insertRow } from "../../src/storage/collection/rows.ts";
import { externalGroupRoleMappingCollection, roleBindingCollection } from "../../src/storage/iam/collections.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { stoppedClock, type TurnableClock } from "../security/ground.ts";
import { addGroup, addIdentity, addRole, arrange, viewerRole } from "../security/tree.ts";

const sets = 4;
const identityCount = 4;

/** Between two begins or ends: callers get new computing time for expensive calls by this clock. */
const stepMs = 60_000;

/** The capabilities of the random roles, and their names. */
const capabilities = {
  "groups.list": Capability.CAP_IAM_GROUPS_LIST,
  "roles.list": Capability.CAP_IAM_ROLES_LIST,
  "identity.list": Capability.CAP_IAM_IDENTITY_LIST,
} as const;
type Name = keyof typeof capabilities;
const names = Object.keys(capabilities) as Name[];

after(stopPostgres);

interface Binding extends Term {
  readonly identity: string;
  readonly group: string;
  readonly held: readonly Name[];
}

/** A mapping gives its role to sessions while its maker holds it, by bindings or by earlier mappings of the maker's session. */
interface Mapping {
  readonly uid: string;
  readonly scope: string;
  readonly held: readonly Name[];
  readonly maker: string;
  readonly makerMappings: readonly Mapping[];
}

interface World {
  readonly groups: readonly string[];
  readonly identities: readonly string[];
  readonly bindings: readonly Binding[];
  /** The mappings of each identity's session. */
  readonly sessions: ReadonlyMap<string, readonly Mapping[]>;
}

interface HeldRole {
  readonly effectiveGroupUids?: readonly string[];
  readonly capabilities?: readonly string[];
}

interface Holder {
  readonly identity: { readonly uid: string };
  readonly capabilities?: readonly string[];
}

/** The model. */
function holds(
  world: World,
  identity: string,
  mappings: readonly Mapping[],
  name: Name,
  group: string,
  time: number,
): boolean {
  const isBound = world.bindings.some(
    (one) => one.identity === identity && one.held.includes(name) && isWithin(group, one.group) && isInTerm(one, time),
  );
  const isMapped = (one: Mapping) =>
    one.held.includes(name) &&
    isWithin(group, one.scope) &&
    one.held.every((each) => holds(world, one.maker, one.makerMappings, each, one.scope, time));
  return isBound || mappings.some(isMapped);
}

/** Returns random numbers below 1, the same for a seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

for (const database of databases) {
  describe(`access and its terms, ${database}`, () => {
    let server: TestServer;
    let clock: TurnableClock;

    before(async () => {
      clock = stoppedClock();
      server = await startTestServer({ database, clock: clock.read });
    });
    after(() => server[Symbol.asyncDispose]());

    async function makeWorld(random: () => number): Promise<World> {
      const below = (count: number) => Math.floor(random() * count);
      const pick = <T>(list: readonly T[]) => list[below(list.length)]!;
      const now = clock.read();
      const maybe = (time: number) => (random() < 0.3 ? null : time);
      const top = await addGroup(server, server.groupUid, "top");
      const middle = await addGroup(server, top, "middle");
      const groups = [top, middle, await addGroup(server, middle, "low")];
      const identities: string[] = [];
      for (let i = 0; i < identityCount; i++) identities.push(await addIdentity(server, server.groupUid));
      const roles = new Map<string, readonly Name[]>();
      for (const held of [names, [names[0]!], names.slice(1)])
        roles.set(
          await addRole(
            server,
            server.groupUid,
            held.map((name) => capabilities[name]),
          ),
          held,
        );
      const bindings: Binding[] = [];
      const used = new Set<string>();
      for (let i = 0; i < 10; i++) {
        const [identity, group, role] = [pick(identities), pick(groups), pick([...roles.keys()])];
        if (used.has(`${identity} ${group} ${role}`)) continue;
        used.add(`${identity} ${group} ${role}`);
        const startTime = maybe(now + 10 + below(20) * stepMs);
        const term: Term = { startTime, expireTime: maybe((startTime ?? now) + 10 + below(20) * stepMs) };
        bindings.push({ identity, group, held: roles.get(role)!, ...term });
        const row = { uid: newChild(group), parent: group, identityUid: identity, roleUid: role, createTime: now };
        await arrange(server, async (tx) => {
          await insertRow(tx, roleBindingCollection, { ...row, ...term });
        });
      }
      const sessions = new Map<string, Mapping[]>(identities.map((uid) => [uid, []]));
      const provider = await addProvider();
      for (let i = 0; i < 4; i++) {
        const [maker, scope, role] = [pick(identities), pick(groups), pick([...roles.keys()])];
        const makerMappings = [...sessions.get(maker)!];
        const uid = newChild(provider);
        const mapping: Mapping = { uid, scope, held: roles.get(role)!, maker, makerMappings };
        const context = {
          actor: maker,
          actorMappings: makerMappings.map((one) => one.uid),
          method: "test",
          requestId: "",
        };
        await server.server.database.write({ ...context, time: now }, (tx) =>
          insertRow(tx, externalGroupRoleMappingCollection, {
            uid,
            parent: provider,
            externalGroupId: uid,
            roleUid: role,
            scope,
            createTime: now,
          }),
        );
        sessions.get(pick(identities.filter((each) => each !== maker)))!.push(mapping);
      }
      return { groups, identities, bindings, sessions };
    }

    async function addProvider(): Promise<string> {
      const oidc = { issuer: `https://idp-${newChild("")}.example.org`, clientId: "gatehouse", pkceEnabled: true };
      const body = { name: `provider-${newChild("")}`, defaultRole: viewerRole.uid, oidc };
      const token = await server.tokenOf(server.ownerUid);
      const made = await rest(server.url, token, "POST", `/iam/v2beta1/identityProviders/${server.groupUid}`, body);
      assert.equal(made.status, 200, JSON.stringify(made.body));
      return made.body.uid;
    }

    async function tokenWith(subject: string, mappings: readonly Mapping[]): Promise<string> {
      const act = { iss: "https://issuer.example.org", sub: "test", aud: server.config.baseUrl };
      const uids = mappings.map(({ uid }) => uid);
      const request = { subject, audience: [server.config.baseUrl], act, grants: {}, narrowing: {}, mappings: uids };
      return (await server.server.tokens.issue(request)).token;
    }

    async function ask(token: string, path: string, body?: object) {
      const reply = await rest(server.url, token, body ? "POST" : "GET", path, body);
      assert.equal(reply.status, 200, `${path}: ${JSON.stringify(reply.body)}`);
      return reply.body;
    }

    /** Compares what the policy, what-can and explain say of an identity with the model. */
    async function compareIdentity(world: World, identity: string, title: string): Promise<void> {
      const mappings = world.sessions.get(identity)!;
      const uids = mappings.map(({ uid }) => uid);
      const grants = (await server.server.policy.grantsOf(identity, { mappings: uids })) ?? new Map();
      const self = await tokenWith(identity, mappings);
      const { roles = [], mappedRoles = [] } = await ask(self, "/access/v1/whatCan");
      const held: HeldRole[] = [...roles, ...mappedRoles];
      const questions = world.groups.flatMap((group) => names.map((capability) => ({ group, capability })));
      const { responses } = await ask(self, "/access/v1/explain:batch", { requests: questions });
      for (const [i, { group, capability }] of questions.entries()) {
        const expected = holds(world, identity, mappings, capability, group, clock.read());
        const at = `${title}, ${capability} of ${identity} at ${group}`;
        const isGranted = [...grants].some(
          ([place, set]) => isWithin(group, place) && hasCapability(set, capabilities[capability]),
        );
        assert.equal(isGranted, expected, `the policy: ${at}`);
        const isTold = held.some(
          ({ effectiveGroupUids = [], capabilities: own = [] }) =>
            own.includes(capability) && effectiveGroupUids.some((place) => isWithin(group, place)),
        );
        assert.equal(isTold, expected, `what-can: ${at}`);
        assert.equal(responses[i].granted === true, expected, `explain: ${at}`);
      }
    }

    /** Compares who-can with the model, with and without the filter by a capability. It leaves out mappings. */
    async function compareGroup(world: World, group: string, name: Name, title: string): Promise<void> {
      const owner = await server.tokenOf(server.ownerUid);
      const path = `/access/v1/groups/${group}:whoCan?page_size=200`;
      const { identities: all = [] }: { identities?: Holder[] } = await ask(owner, path);
      const { identities: able = [] }: { identities?: Holder[] } = await ask(owner, `${path}&capability=${name}`);
      for (const identity of world.identities) {
        const found = all.find((one) => one.identity.uid === identity);
        for (const each of names) {
          const expected = holds(world, identity, [], each, group, clock.read());
          const at = `${title}, ${each} of ${identity} at ${group}`;
          assert.equal(found?.capabilities?.includes(each) ?? false, expected, `who-can: ${at}`);
          if (each === name)
            assert.equal(
              able.some((one) => one.identity.uid === identity),
              expected,
              `who-can with a capability: ${at}`,
            );
        }
      }
    }

    for (let seed = 1; seed <= sets; seed++)
      it(`policy, what-can, explain and who-can agree with the model at every begin and end (set ${seed})`, async () => {
        const world = await makeWorld(randomOf(seed));
        const times = world.bindings.flatMap(({ startTime, expireTime }) => [startTime ?? [], expireTime ?? []].flat());
        const moments = [...new Set(times.flatMap((time) => [time - 1, time, time + 1]))].sort((a, b) => a - b);
        for (const moment of moments) {
          if (moment < clock.read()) continue;
          clock.advance(moment - clock.read());
          const title = `after ${moment - moments[0]!} ms`;
          for (const identity of world.identities) await compareIdentity(world, identity, title);
          const name = names[moment % names.length]!;
          for (const group of world.groups) await compareGroup(world, group, name, title);
        }
      });
  });
}
