// Property: after any calls of its owners, each organization keeps an owner who can get a token.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { ownerRole } from "../../../../src/authz/built-in-roles.ts";
import { newUserRow } from "../../../../src/services/iam/users/user-row.ts";
import { userUid } from "../../../../src/services/iam/users/user-uid.ts";
import { findRow, insertRow } from "../../../../src/storage/collection/rows.ts";
import { identityCollection } from "../../../../src/storage/iam/collections.ts";
import { insertMembership } from "../../../../src/storage/iam/memberships.ts";
import { eq } from "../../../../src/storage/schema/drizzle.ts";
import { rest } from "../../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../../harness/server.ts";
import { createProvider, enableScim, type ScimClient, userSchema } from "../../../scim/provisioning.ts";
import { turnableClock } from "../../../security/ground.ts";
import { addCaller, addGroup, arrange, viewerRole } from "../../../security/tree.ts";
import { keyPair, keySetText, signOutside, startIssuer } from "../../../sts/outside.ts";

/** The ways in which an identity is assumed. */
const kinds = ["keys", "otherKeys", "endedKeys", "first", "second", "principal"] as const;
type Kind = (typeof kinds)[number] | "person";

/** A step of an identity, the actor; numbers choose among what there is at that time. */
const step = fc.record({
  what: fc.constantFrom(
    ...(["create", "bind", "bind", "unbind", "unbind", "become", "delete", "suspend", "activate"] as const),
    ...(["addProvider", "deleteProvider", "moveProvider", "enableScim"] as const),
  ),
  actor: fc.nat(5),
  other: fc.nat(5),
  group: fc.nat(3),
  kind: fc.constantFrom(...kinds),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

describe("organizations", () => {
  const [keys, otherKeys] = [keyPair("ES256", "own"), keyPair("ES256", "other")];
  const issuerKey = keyPair("ES256", "issuer");
  const clock = turnableClock();
  let server: TestServer;
  let issuer: Awaited<ReturnType<typeof startIssuer>>;

  before(async () => {
    issuer = await startIssuer(issuerKey);
    server = await startTestServer({ clock: clock.read });
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
  });

  const send = async (token: string, method: string, path: string, body?: object) => {
    const reply = await rest(server.url, token, method, `/iam/v2beta1/${path}`, body);
    assert.ok(reply.status < 500, `${method} ${path}: ${JSON.stringify(reply.body)}`);
    return reply;
  };
  const created = async (token: string, path: string, body: object): Promise<string> => {
    const { status, body: made } = await send(token, "POST", path, body);
    assert.equal(status, 200, `${path}: ${JSON.stringify(made)}`);
    return made.uid;
  };

  function relationshipOf(kind: Kind): object {
    const claims = { issuer: issuer.url, subject: kind };
    const held = (key: typeof keys, more = {}) => ({
      staticKeys: { issuer: "https://keys.example.org", subject: "bot", issuerKeys: keySetText(key), ...more },
    });
    const soon = new Date(server.clock() + 500).toISOString();
    return {
      keys: held(keys),
      otherKeys: held(otherKeys),
      endedKeys: held(keys, { expirationTime: soon }),
      first: { claimMatch: claims },
      second: { claimMatch: claims },
      principal: { servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" },
      person: {},
    }[kind];
  }

  /** The kinds of the identities. */
  const kindOf = new Map<string, Kind>();

  /** The identity providers of the organization by which the person may sign in. */
  let providers: string[] = [];

  /** Exchanges an ID token of the person by one of the providers; undefined if all deny it. */
  async function personsToken(): Promise<string | undefined> {
    const now = Math.floor(server.clock() / 1000);
    const aud = server.config.baseUrl;
    const claims = { iss: issuer.url, sub: "person", aud, iat: now, exp: now + 600 };
    const token = await signOutside(issuerKey, claims);
    for (const provider of providers) {
      clock.advance(1_000);
      const path = `/sts/exchange?aud=${aud}&identity_provider=${provider}`;
      const { status, body } = await rest(server.url, token, "POST", path);
      assert.ok([200, 403].includes(status), JSON.stringify(body));
      if (status === 200) return body.token;
    }
    return undefined;
  }

  /** Exchanges a token for an identity; undefined if it is denied. */
  async function tokenOf(uid: string): Promise<string | undefined> {
    // The limit of bad tokens of one address starts again.
    clock.advance(1_000);
    const now = Math.floor(server.clock() / 1000);
    const kind = kindOf.get(uid);
    if (kind === "person") return await personsToken();
    const isKey = kind?.toLowerCase().endsWith("keys");
    const [iss, sub] = isKey ? ["https://keys.example.org", "bot"] : [issuer.url, kind];
    const key = isKey ? (kind === "otherKeys" ? otherKeys : keys) : issuerKey;
    const token = await signOutside(key, { iss, sub, aud: server.config.baseUrl, iat: now, exp: now + 600 });
    const { status, body } = await rest(
      server.url,
      token,
      "POST",
      `/sts/exchange?aud=${server.config.baseUrl}&identity=${uid}`,
    );
    assert.ok([200, 403].includes(status), JSON.stringify(body));
    return status === 200 ? body.token : undefined;
  }

  const ownersOf = (groupUid: string) =>
    arrange(server, async (tx) => {
      const statement = tx.prepared(`test.owners.${groupUid}`, (db, { roleBindings }) =>
        db.select().from(roleBindings).where(eq(roleBindings.parent, groupUid)),
      );
      return (await statement.execute()).filter(({ roleUid }) => roleUid === ownerRole.uid);
    });
  const exists = async (groupUid: string) => (await ownersOf(groupUid)).length > 0;

  async function isReachable(groupUid: string): Promise<boolean> {
    for (const { identityUid } of await ownersOf(groupUid)) {
      const token = await tokenOf(identityUid);
      if (token && (await send(token, "GET", `groups/${groupUid}`)).status === 200) return true;
    }
    return false;
  }

  interface World {
    readonly identities: string[];
    readonly groups: string[];
    readonly scim: ScimClient;
    readonly users: Readonly<Record<string, string>>;
  }

  /** Makes an organization with four identities that own it, and two people whom a SCIM client provisions. */
  async function newWorld(): Promise<World> {
    const home = await addGroup(server, null, `home-${Math.random()}`);
    const setUp = await addCaller(server, home, ownerRole.uid);
    const identities: string[] = [];
    const add = async (by: string, kind: Kind) => {
      const uid = await created(by, `identities/${home}`, { name: kind.toLowerCase(), ...relationshipOf(kind) });
      await created(by, `roleBindings/${home}`, { identityUid: uid, roleUid: ownerRole.uid });
      identities.push(uid);
      kindOf.set(uid, kind);
      return uid;
    };
    const token = (await tokenOf(await add(setUp.token, "first")))!;
    for (const kind of ["keys", "second", "otherKeys"] as const) await add(token, kind);
    assert.equal((await send(token, "DELETE", `roleBindings/${setUp.binding}`)).status, 200);
    const provider = await createProvider({ ...server, ownerToken: token }, { issuer: issuer.url }, home);
    const scim = await enableScim({ ...server, ownerToken: token }, provider);
    const users: Record<string, string> = {};
    for (const name of ["first", "second"]) {
      const user = { schemas: [userSchema], userName: name, externalId: name, active: true };
      users[name] = (await scim.send("POST", "/Users", user)).body.id;
    }
    providers = [provider];
    const person = userUid(issuer.url, "person");
    await arrange(server, async (tx) => {
      const about = { name: "person", email: "", emailUnverified: "", issuer: issuer.url, subject: "person" };
      if (!(await findRow(tx, identityCollection, person)))
        await insertRow(tx, identityCollection, newUserRow(person, tx.context.time, about));
      await insertMembership(tx, { identityUid: person, groupUid: home });
    });
    kindOf.set(person, "person");
    identities.push(person);
    providers.push(await createProvider({ ...server, ownerToken: token }, { issuer: issuer.url }, home));
    await created(token, `roleBindings/${home}`, { identityUid: person, roleUid: ownerRole.uid });
    return { identities, groups: [home], scim, users };
  }

  async function run(world: World, { what, actor, other, group, kind }: Step): Promise<void> {
    const at = <T>(list: readonly T[], i: number) => list[i % list.length]!;
    const { identities, groups, scim, users } = world;
    if (what === "suspend" || what === "activate") {
      const name = other % 2 === 0 ? "first" : "second";
      const user = { schemas: [userSchema], userName: name, externalId: name, active: what === "activate" };
      const { status, body } = await scim.send("PUT", `/Users/${users[name]}`, user);
      return assert.ok(status < 500, JSON.stringify(body));
    }
    const token = await tokenOf(at(identities, actor));
    if (!token) return;
    const [place, target] = [at(groups, group), at(identities, other)];
    if (what === "create") {
      const { status, body } = await send(token, "POST", "groups", { name: `made-${Math.random()}` });
      if (status === 200) groups.push(body.uid);
    } else if (what === "bind") {
      await send(token, "POST", `roleBindings/${place}`, { identityUid: target, roleUid: ownerRole.uid });
    } else if (what === "addProvider") {
      const oidc = { issuer: issuer.url, clientId: "gatehouse", clientSecret: "canary" };
      const provider = { name: `sso-${providers.length}`, defaultRole: viewerRole.uid, oidc };
      const { status, body } = await send(token, "POST", `identityProviders/${groups[0]}`, provider);
      if (status === 200) providers.push(body.uid);
    } else if (what === "deleteProvider") await send(token, "DELETE", `identityProviders/${at(providers, other)}`);
    else if (what === "moveProvider") {
      const oidc = { issuer: "https://other.example.org", clientId: "gatehouse", clientSecret: "canary" };
      await send(token, "PATCH", `identityProviders/${at(providers, other)}`, { oidc });
    } else if (what === "enableScim") {
      const path = `identityProviders/${at(providers, other)}`;
      const { body } = await send(token, "GET", path);
      if (body.scim)
        await send(token, "POST", `${path}:setScimEnabled`, { enabled: kind !== "keys", etag: body.scim.etag });
    } else if (what === "unbind") {
      const held = (await ownersOf(place)).find(({ identityUid }) => identityUid === target);
      if (held) await send(token, "DELETE", `roleBindings/${held.uid}`);
    } else if (what === "become") {
      const { status } = await send(token, "PATCH", `identities/${target}`, relationshipOf(kind));
      if (status === 200) kindOf.set(target, kind);
    } else await send(token, "DELETE", `identities/${target}`);
  }

  it("keep an owner who can get a token when owners create, bind, change, delete, suspend and change identity providers in any order", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 16 }), async (steps) => {
        const world = await newWorld();
        for (const one of steps) {
          await run(world, one);
          for (const group of world.groups)
            assert.ok(!(await exists(group)) || (await isReachable(group)), `${group} after ${JSON.stringify(one)}`);
        }
      }),
      { numRuns: 25 },
    );
  });
});
