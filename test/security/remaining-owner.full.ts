// Random terms, ends, deletions, reviews and suspensions: an organization keeps an owner without an end who can get a token.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { hasReachableOwner } from "../../src/services/iam/rules/reachable-owners.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import type { TestServer } from "../harness/server.ts";
import { newRandom, pick } from "../history/random.ts";
import {
  createProvider,
  enableScim,
  patchSchema,
  type ScimClient,
  startProvisionedServer,
  userSchema,
} from "../scim/provisioning.ts";
import { type TurnableClock, turnableClock } from "./ground.ts";
import { addCaller, addIdentity, addRole, bind, ownerRole } from "./tree.ts";

const operations = 300;

/** How many operations run at the same time. */
const concurrency = 4;

const issuer = "https://sso.acme.test";

after(stopPostgres);

for (const database of databases)
  describe(`the remaining owner of an organization, ${database}`, () => {
    let server: TestServer;
    let clock: TurnableClock;
    let scim: ScimClient;
    let root: string;
    /** Holds all capabilities of an owner by another role. */
    let caller: string;
    let identities: readonly string[];
    /** The ids of the provisioned people behind the identities. */
    let people: readonly string[];

    before(async () => {
      clock = turnableClock();
      server = await startProvisionedServer({ database, clock: clock.read });
      root = server.groupUid;
      scim = await enableScim(server, await createProvider(server));
      const subjects = Array.from({ length: 6 }, (_, i) => `person-${i}`);
      identities = await Promise.all(subjects.map((subject) => addIdentity(server, root, { issuer, subject })));
      people = await Promise.all(subjects.map(provision));
      for (const uid of identities.slice(0, 2)) await bind(server, root, uid, ownerRole.uid);
      ({ uid: caller } = await addCaller(server, root, await addRole(server, root, ownerRole.capabilities)));
    });
    after(() => server[Symbol.asyncDispose]());

    async function provision(externalId: string): Promise<string> {
      const user = { schemas: [userSchema], userName: `${externalId}@acme.test`, externalId, active: true };
      const { status, body } = await scim.send("POST", "/Users", user);
      assert.equal(status, 201, JSON.stringify(body));
      return body.id;
    }

    /** Sends a call, which may be rejected. Returns its response if it is not. */
    async function send(method: string, path: string, body?: object) {
      const reply = await rest(server.url, await server.tokenOf(caller), method, path, body);
      assert.ok(reply.status < 500, `${method} ${path}: ${JSON.stringify(reply.body)}`);
      return reply.status === 200 ? reply.body : undefined;
    }

    async function owners(): Promise<string[]> {
      const { roleBindings = [] } = await send(
        "GET",
        `/iam/v2beta1/roleBindings?uidp.children_of=${root}&page_size=200`,
      );
      // biome-ignore lint/suspicious/noExplicitAny: of a response.
      return roleBindings.filter(({ role }: any) => role?.uid === ownerRole.uid).map(({ uid }: any) => uid);
    }

    async function review(isClosed: boolean): Promise<void> {
      const draft = {
        title: "owners",
        dueTime: new Date(clock.read() + 2 * 3_600_000).toISOString(),
        onDue: "ACCESS_REVIEW_ON_DUE_END_UNCONFIRMED",
        roleUids: [ownerRole.uid],
      };
      const made = await send("POST", `/access/v1/reviews/${root}`, draft);
      if (made && isClosed) await send("POST", `/access/v1/reviews/${made.uid}:close`, {});
    }

    async function setActive(id: string, value: boolean): Promise<void> {
      const change = { schemas: [patchSchema], Operations: [{ op: "Replace", path: "active", value }] };
      const { status, body } = await scim.send("PATCH", `/Users/${id}`, change);
      assert.ok(status < 500, JSON.stringify(body));
    }

    it(`an owner without an end is there after each of ${operations} random operations`, async () => {
      const random = newRandom(43, 0);
      const ttl = () => `${60 + random(3_600)}s`;
      const binding = (identityUid: string) => ({ identityUid, roleUid: ownerRole.uid });
      const choices: readonly ((owner: string, identity: string) => Promise<unknown>)[] = [
        (_, identity) => send("POST", `/iam/v2beta1/roleBindings/${root}`, binding(identity)),
        (_, identity) => send("POST", `/access/v1/roleBindingTerms/${root}`, { ...binding(identity), ttl: ttl() }),
        (owner) => send("PATCH", `/access/v1/roleBindingTerms/${owner}`, { ttl: ttl() }),
        (owner) => send("DELETE", `/iam/v2beta1/roleBindings/${owner}`),
        (owner) => send("POST", `/access/v1/roleBindingTerms/${owner}:end`, {}),
        () => review(random(3) > 0),
        () => setActive(pick(random, people), random(2) === 0),
        async () => clock.advance(random(600_000)),
      ];
      for (let done = 0; done < operations; done += concurrency) {
        const found = await owners();
        assert.ok(found.length > 0);
        const chosen = Array.from({ length: concurrency }, () =>
          pick(random, choices)(pick(random, found), pick(random, identities)),
        );
        await Promise.all(chosen);
        const query = { now: clock.read() };
        assert.ok(await server.server.database.read((session) => hasReachableOwner(session, root, query)), `${done}`);
      }
    });
  });
