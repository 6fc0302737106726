// Role bindings begin and end at the millisecond, what depends on them ends with them, and nothing that a caller gives outlasts the
// caller's own access.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import { findCapabilityByName } from "../../src/model/capabilities.ts";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { type RestReply, rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { untilTrue } from "../harness/until.ts";
import { client, loginSettings, signInBy, startUpstream, type Upstream } from "../sign-in/openid-client.ts";
import { stoppedClock, type TurnableClock } from "./ground.ts";
import { addIdentity, addRole, arrange, bind, ownerRole, viewerRole } from "./tree.ts";

const editorRole = builtInRoles.find(({ name }) => name === "editor")!;
const numbers = (...names: string[]) => names.map((name) => findCapabilityByName(name)!.number);
const minute = 60_000;

after(stopPostgres);

for (const database of databases) {
  describe(`terms of role bindings, ${database}`, () => {
    let server: TestServer;
    let upstream: Upstream;
    let clock: TurnableClock;
    let serial = 0;

    before(async () => {
      upstream = await startUpstream();
      clock = stoppedClock();
      server = await startTestServer({ database, clock: clock.read, settings: loginSettings(upstream) });
    });
    after(async () => {
      await server[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    });
    // The budgets of addresses and of expensive calls grow with time.
    beforeEach(() => clock.advance(minute));

    const at = (offset: number) => new Date(clock.read() + offset).toISOString();
    const send = async (token: string, method: string, path: string, body?: object): Promise<RestReply> =>
      await rest(server.url, token, method, path, body);
    async function call(token: string, method: string, path: string, body?: object) {
      const reply = await send(token, method, path, body);
      assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`);
      return reply.body;
    }
    const asOwner = async (method: string, path: string, body?: object) =>
      await call(await server.tokenOf(server.ownerUid), method, path, body);
    const terms = "/access/v1/roleBindingTerms";

    /** Gives an identity, a new one unless one is named, a role for a time; answers its uid, its binding and a token. */
    async function give(term: object, { role = ownerRole.uid, identityUid = "" } = {}) {
      const uid = identityUid || (await addIdentity(server, server.groupUid, { name: `caller-${serial++}` }));
      const made = await asOwner("POST", `${terms}/${server.groupUid}`, { identityUid: uid, roleUid: role, ...term });
      return { uid, binding: made.uid as string, made, token: await server.tokenOf(uid) };
    }

    const listsGroups = async (token: string) =>
      ((await call(token, "GET", "/iam/v2beta1/groups?page_size=1")).groups ?? []).length > 0;
    const mayList = async (token: string) => {
      const reply = await send(token, "GET", "/iam/v2beta1/groups?page_size=1");
      assert.ok([200, 403].includes(reply.status), JSON.stringify(reply.body));
      return reply.status === 200;
    };

    /** Asserts that a reply is a denial, because something would outlast the caller. */
    function assertOutlives({ status, body }: RestReply, end?: string) {
      assert.equal(status, 403, JSON.stringify(body));
      assert.equal(body.details[0].reason, "TERM_OUTLIVES_CALLER", JSON.stringify(body));
      if (end) assert.equal(body.details[0].metadata.expire_time, end);
    }

    async function signIn(parameters: Record<string, string>, claims: Record<string, unknown> = {}) {
      clock.advance(1000);
      const sub = (claims.sub as string | undefined) ?? `person-${serial++}`;
      const answers = await signInBy(upstream, server.url, parameters, { sub, ...claims });
      return { uid: userUid(upstream.issuer, sub), token: answers.get("token"), error: answers.get("error") };
    }

    const bindingsOf = async (identity: string) =>
      (await asOwner("GET", `/iam/v2beta1/roleBindings?identity=${identity}`)).roleBindings as {
        uid: string;
        role: { uid: string };
      }[];
    const termsOf = async (identity: string) =>
      (await asOwner("GET", `${terms}?identity=${identity}`)).terms as (JsonObject & { uid: string })[];

    describe("a binding", () => {
      it("grants from its start, inclusive, to its end, exclusive", async () => {
        const { token, made } = await give({ startTime: at(10_000), expireTime: at(100_000) });
        assert.equal(made.state, "ROLE_BINDING_TERM_STATE_SCHEDULED");
        const seen: boolean[] = [];
        for (const step of [0, 9_999, 1, 89_999, 1]) {
          clock.advance(step);
          seen.push(await mayList(token));
        }
        assert.deepEqual(seen, [false, false, true, true, false]);
      });

      it("ends at its end although the grants were cached a moment ago, and another one of the same role goes on", async () => {
        const { uid, token } = await give({ ttl: "60s" }, { role: viewerRole.uid });
        await give({ ttl: "120s" }, { role: editorRole.uid, identityUid: uid });
        clock.advance(minute - 1);
        const repo = { name: `repo-${serial++}` };
        assert.ok(await listsGroups(token));
        clock.advance(1);
        // The role editor gives this too.
        assert.ok(await listsGroups(token));
        await call(token, "POST", `/registry/v2beta1/repos/${server.groupUid}`, repo);
        clock.advance(minute);
        assert.equal(await mayList(token), false);
      });

      it("a binding that has ended is in no published list at once, and is deleted in nobody's name with its event", async () => {
        const { uid, binding } = await give({ ttl: "60s" });
        assert.deepEqual(
          (await bindingsOf(uid)).map((one) => one.uid),
          [binding],
        );
        clock.advance(minute);
        assert.deepEqual(await bindingsOf(uid), []);
        const read = await send(await server.tokenOf(server.ownerUid), "GET", `/iam/v2beta1/roleBindings/${binding}`);
        assert.equal(read.status, 404);
        await untilTrue(async () => (await termsOf(uid)).length === 0);
        const { changes } = await asOwner(
          "GET",
          `/gatehouse/changes/v1/changes?parent=${server.groupUid}&resource_uid=${binding}`,
        );
        const [last] = changes as JsonObject[];
        assert.equal(last?.method, "/gatehouse.access.v1.RoleBindingTermsService/EndRoleBindingTerm");
        assert.equal(last?.actorUid ?? "", "");
      });

      it("can be created again as soon as it has ended", async () => {
        const { uid, binding } = await give({ ttl: "60s" });
        clock.advance(minute);
        const again = await give({ ttl: "60s" }, { identityUid: uid });
        assert.notEqual(again.binding, binding);
        assert.deepEqual(
          (await bindingsOf(uid)).map((one) => one.uid),
          [again.binding],
        );
      });

      it("a binding that exists is ALREADY_EXISTS, with its end", async () => {
        const { uid, made } = await give({ ttl: "600s" });
        const reply = await send(
          await server.tokenOf(server.ownerUid),
          "POST",
          `/iam/v2beta1/roleBindings/${server.groupUid}`,
          { identityUid: uid, roleUid: ownerRole.uid },
        );
        assert.equal(reply.status, 409, JSON.stringify(reply.body));
        const info = reply.body.details.find((detail: JsonObject) => detail.metadata) as { metadata: JsonObject };
        assert.equal(Date.parse(String(info.metadata.expire_time)), Date.parse(made.expireTime));
      });

      it("a group can be deleted although bindings in it have just ended", async () => {
        const group = await asOwner("POST", `/iam/v2beta1/groups/${server.groupUid}`, { name: `group-${serial++}` });
        const uid = await addIdentity(server, server.groupUid);
        await asOwner("POST", `${terms}/${group.uid}`, { identityUid: uid, roleUid: viewerRole.uid, ttl: "60s" });
        const refused = await send(await server.tokenOf(server.ownerUid), "DELETE", `/iam/v2beta1/groups/${group.uid}`);
        assert.equal(refused.status, 400, JSON.stringify(refused.body));
        clock.advance(minute);
        await asOwner("DELETE", `/iam/v2beta1/groups/${group.uid}`);
      });

      it("its holder gives it back without a capability, and nobody else without one", async () => {
        const { uid, binding, token } = await give({ ttl: "600s" }, { role: viewerRole.uid });
        const other = await give({ ttl: "600s" }, { role: viewerRole.uid });
        assert.equal((await send(other.token, "POST", `${terms}/${binding}:end`, {})).status, 403);
        const ended = await call(token, "POST", `${terms}/${binding}:end`, {});
        assert.equal(ended.state, "ROLE_BINDING_TERM_STATE_ENDED");
        assert.equal(await mayList(token), false);
        assert.deepEqual(await bindingsOf(uid), []);
      });

      it("the published update of a binding keeps its term", async () => {
        const { uid, binding } = await give({ ttl: "600s" });
        await asOwner("PATCH", `/iam/v2beta1/roleBindings/${binding}`, { roleUid: viewerRole.uid });
        const [term] = await termsOf(uid);
        assert.equal(term?.roleUid, viewerRole.uid);
        assert.ok(term?.expireTime);
      });

      it("its term is changed, extended and removed", async () => {
        const { uid, binding, token } = await give({ ttl: "60s" }, { role: viewerRole.uid });
        await asOwner("PATCH", `${terms}/${binding}`, { ttl: "120s" });
        clock.advance(minute);
        assert.ok(await mayList(token));
        await asOwner("PATCH", `${terms}/${binding}?update_mask=expire_time`, {});
        assert.deepEqual(await termsOf(uid), []);
        clock.advance(5 * minute);
        assert.ok(await mayList(token));
      });

      for (const [title, term] of Object.entries({
        "without start and end": {},
        "with a start more than 90 days ahead": { startTime: 91 * 24 * 60 * minute },
        "that ends in less than a minute": { expireTime: minute - 1 },
        "that ends in more than 5 years": { expireTime: (5 * 365 + 1) * 24 * 60 * minute },
        "that ends before it starts": { startTime: 5 * minute, expireTime: 2 * minute },
      }))
        it(`a binding ${title} is rejected`, async () => {
          const uid = await addIdentity(server, server.groupUid);
          const body = Object.fromEntries(Object.entries(term).map(([name, offset]) => [name, at(offset)]));
          const reply = await send(await server.tokenOf(server.ownerUid), "POST", `${terms}/${server.groupUid}`, {
            identityUid: uid,
            roleUid: viewerRole.uid,
            ...body,
          });
          assert.equal(reply.status, 400, JSON.stringify(reply.body));
        });

      it("lists filter by state and by end", async () => {
        const soon = await give({ ttl: "60s" });
        const late = await give({ startTime: at(10 * minute), expireTime: at(20 * minute) });
        const listed = async (query: string) => {
          const { terms: found = [] } = await asOwner("GET", `${terms}?page_size=200&${query}`);
          const uids = found.map(({ uid }: { uid: string }) => uid);
          return [soon, late].map(({ binding }) => uids.includes(binding));
        };
        assert.deepEqual(await listed("state=ROLE_BINDING_TERM_STATE_ACTIVE"), [true, false]);
        assert.deepEqual(await listed("state=ROLE_BINDING_TERM_STATE_SCHEDULED"), [false, true]);
        assert.deepEqual(await listed(`expires_before=${at(2 * minute)}`), [true, false]);
      });
    });

    describe("owners", () => {
      it("the last owner without a term gets none, not even while an owner with one is there", async () => {
        await give({ ttl: "600s" });
        const [own] = await bindingsOf(server.ownerUid);
        const owner = (await bindingsOf(server.ownerUid)).find(({ role }) => role.uid === ownerRole.uid) ?? own!;
        const reply = await send(await server.tokenOf(server.ownerUid), "PATCH", `${terms}/${owner.uid}`, {
          ttl: "600s",
        });
        assert.equal(reply.status, 400, JSON.stringify(reply.body));
        assert.match(JSON.stringify(reply.body), /LAST_OWNER/);
      });

      it("an owner with a term cannot remove the last owner without one", async () => {
        const { token } = await give({ ttl: "600s" });
        for (const { uid, role } of await bindingsOf(server.ownerUid)) {
          if (role.uid !== ownerRole.uid) continue;
          const reply = await send(token, "DELETE", `/iam/v2beta1/roleBindings/${uid}`);
          assert.equal(reply.status, 400, JSON.stringify(reply.body));
        }
      });
    });

    describe("nobody gives longer than they hold", () => {
      const attempts: Record<string, (caller: { uid: string; binding: string; token: string }) => Promise<RestReply>> =
        {
          "a binding without an end": async ({ token }) =>
            await send(token, "POST", `/iam/v2beta1/roleBindings/${server.groupUid}`, {
              identityUid: await addIdentity(server, server.groupUid),
              roleUid: viewerRole.uid,
            }),
          "a binding of a role that the caller holds without an end too": async ({ uid, token }) => {
            await bind(server, server.groupUid, uid, viewerRole.uid);
            return await send(token, "POST", `/iam/v2beta1/roleBindings/${server.groupUid}`, {
              identityUid: await addIdentity(server, server.groupUid),
              roleUid: viewerRole.uid,
            });
          },
          "a batch of bindings": async ({ token }) => {
            const identityUid = await addIdentity(server, server.groupUid);
            return await send(token, "POST", "/iam/v2beta1/roleBindings:batchCreate", {
              parent: server.groupUid,
              requests: [{ roleBinding: { identityUid, roleUid: viewerRole.uid } }],
            });
          },
          "a binding of version 1": async ({ token }) =>
            await send(token, "POST", `/iam/v1/rolebindings/${server.groupUid}`, {
              identity: await addIdentity(server, server.groupUid),
              role: viewerRole.uid,
            }),
          "a binding that ends later": async ({ token }) =>
            await send(token, "POST", `${terms}/${server.groupUid}`, {
              identityUid: await addIdentity(server, server.groupUid),
              roleUid: viewerRole.uid,
              ttl: "601s",
            }),
          "an extension of the own binding": async ({ token, binding }) =>
            await send(token, "PATCH", `${terms}/${binding}`, { ttl: "601s" }),
          "the removal of the own end": async ({ token, binding }) =>
            await send(token, "PATCH", `${terms}/${binding}?update_mask=expire_time`, {}),
          "another identity in a binding without an end": async ({ token, uid }) => {
            const other = await addIdentity(server, server.groupUid);
            const binding = await bind(server, server.groupUid, other, viewerRole.uid);
            return await send(token, "PATCH", `/iam/v2beta1/roleBindings/${binding}`, { identityUid: uid });
          },
          "another role in a binding without an end": async ({ token }) => {
            const other = await addIdentity(server, server.groupUid);
            const binding = await bind(server, server.groupUid, other, viewerRole.uid);
            return await send(token, "PATCH", `/iam/v2beta1/roleBindings/${binding}`, { roleUid: ownerRole.uid });
          },
          "a role with more capabilities": async ({ token }) => {
            const role = await addRole(server, server.groupUid, numbers("groups.list"));
            return await send(token, "PATCH", `/iam/v2beta1/roles/${role}`, {
              capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_IAM_GROUPS_DELETE"],
            });
          },
          "a relationship of an identity with a role": async ({ token }) => {
            const other = await addIdentity(server, server.groupUid);
            await bind(server, server.groupUid, other, ownerRole.uid);
            return await send(token, "PATCH", `/iam/v2beta1/identities/${other}`, {
              claimMatch: { issuer: "https://attacker.example.org", subject: "me" },
            });
          },
        };
      for (const [title, attempt] of Object.entries(attempts))
        it(`a caller whose role ends cannot make ${title}`, async () => {
          const caller = await give({ ttl: "600s" });
          assertOutlives(await attempt(caller), at(600_000));
        });

      it("a caller whose role ends gives it until the same end", async () => {
        const { token } = await give({ ttl: "600s" });
        const identityUid = await addIdentity(server, server.groupUid);
        const body = { identityUid, roleUid: viewerRole.uid, ttl: "600s" };
        const { uid } = await call(token, "POST", `${terms}/${server.groupUid}`, body);
        await call(token, "PATCH", `${terms}/${uid}`, { ttl: "300s" });
      });

      it("a caller who holds the role without an end, too, gives it without one", async () => {
        const { uid, token } = await give({ ttl: "600s" });
        await bind(server, server.groupUid, uid, editorRole.uid);
        await bind(server, server.groupUid, uid, ownerRole.uid).catch(() => undefined);
        const admin = await addRole(server, server.groupUid, ownerRole.capabilities);
        await asOwner("POST", `/iam/v2beta1/roleBindings/${server.groupUid}`, { identityUid: uid, roleUid: admin });
        await call(token, "POST", `/iam/v2beta1/roleBindings/${server.groupUid}`, {
          identityUid: await addIdentity(server, server.groupUid),
          roleUid: viewerRole.uid,
        });
      });
    });

    describe("what depends on a maker", () => {
      it("an invite gives its role until its maker's ends, and nothing after that", async () => {
        const { token } = await give({ ttl: "600s" });
        const body = { roleUid: viewerRole.uid, ttl: "3600s" };
        const end = clock.read() + 600_000;
        const invite = await call(token, "POST", `/iam/v2beta1/groupInvites/${server.groupUid}`, body);
        const person = await signIn({ invite: invite.code });
        assert.notEqual(person.token, null, String(person.error));
        const [term] = await termsOf(person.uid);
        assert.equal(Date.parse(String(term?.expireTime)), end);
        clock.advance(end - clock.read());
        assert.equal((await signIn({ invite: invite.code })).token, null);
      });

      it("an invite makes a binding longer that ends sooner", async () => {
        const invite = await asOwner("POST", `/iam/v2beta1/groupInvites/${server.groupUid}`, {
          roleUid: viewerRole.uid,
          ttl: "3600s",
        });
        const uid = userUid(upstream.issuer, "extended");
        await give({ ttl: "600s" }, { role: viewerRole.uid, identityUid: uid });
        await signIn({ invite: invite.code }, { sub: "extended" });
        assert.deepEqual(await termsOf(uid), []);
        assert.equal((await bindingsOf(uid)).length, 1);
      });

      it("the role of an external group ends at the instant at which the binding of its maker does, and begins with it", async () => {
        const maker = await give({ startTime: at(10 * minute), expireTime: at(20 * minute) });
        const oidc = {
          issuer: upstream.issuer,
          clientId: client.id,
          clientSecret: client.secret,
          groupsClaim: "groups",
        };
        const idp = await asOwner("POST", `/iam/v2beta1/identityProviders/${server.groupUid}`, {
          name: "own",
          defaultRole: viewerRole.uid,
          oidc,
        });
        const mapping = { externalGroupId: "admins", roleUid: editorRole.uid, scope: server.groupUid };
        clock.advance(11 * minute);
        await call(
          await server.tokenOf(maker.uid),
          "POST",
          `/iam/v2beta1/externalGroupRoleMappings/${idp.uid}`,
          mapping,
        );
        const { token } = await signIn({ idp_id: idp.uid }, { groups: ["admins"] });
        const writes = async () =>
          (await send(token!, "POST", `/registry/v2beta1/repos/${server.groupUid}`, { name: `r${serial++}` })).status;
        assert.equal(await writes(), 200);
        clock.advance(Date.parse(maker.made.expireTime) - 1 - clock.read());
        assert.equal(await writes(), 200);
        clock.advance(1);
        assert.equal(await writes(), 403);
      });
    });

    it("a term is rejected while a server of an older release runs, and keeps such servers from starting after it", async () => {
      await arrange(server, async (tx) => {
        const statement = tx.prepared("test.compatible", (db, { settings }) =>
          db
            .insert(settings)
            .values({ name: "compatible_since", value: "0000_initial" })
            .onConflictDoUpdate({
              target: settings.name,
              set: { value: "0000_initial" },
            }),
        );
        await statement.execute();
        const { writeNode } = await import("../../src/storage/installation/nodes.ts");
        const times = { startTime: 0, lastSeenTime: clock.read() };
        await writeNode(tx, { id: "old", hostName: "old-host", version: "0.5.9", workerCount: 1, ...times });
      });
      const identityUid = await addIdentity(server, server.groupUid);
      const body = { identityUid, roleUid: viewerRole.uid, ttl: "60s" };
      const path = `${terms}/${server.groupUid}`;
      const refused = await send(await server.tokenOf(server.ownerUid), "POST", path, body);
      assert.equal(refused.status, 400, JSON.stringify(refused.body));
      assert.match(refused.body.message, /old-host \(0\.5\.9\)/);
      await arrange(server, async (tx) => {
        const { deleteNode } = await import("../../src/storage/installation/nodes.ts");
        await deleteNode(tx, "old");
      });
      await asOwner("POST", path, body);
      const { readSetting } = await import("../../src/storage/engine/settings.ts");
      assert.equal(await readSetting(server.server.database.session, "compatible_since"), "0015_role_binding_terms");
    });
  });
}
