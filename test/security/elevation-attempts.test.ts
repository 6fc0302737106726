// A person with a role for an hour tries to keep access, by everything that gives access. When the hour is over, nobody has anything that they
// did not have before.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { decodeJwt } from "jose";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { type RestReply, rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { basic, getToken } from "../registry/sign-in.ts";
import { keyPair, keySetText } from "../sts/outside.ts";
import { type TurnableClock, turnableClock } from "./ground.ts";
import { addGroup, addIdentity, addPerson, addRole, bind, ownerRole, viewerRole } from "./tree.ts";

const editorRole = builtInRoles.find(({ name }) => name === "editor")!;
const [minute, hour] = [60_000, 3_600_000];
const [iam, access] = ["/iam/v2beta1", "/access/v1"];

/** The people and places of one attempt. */
interface Scene {
  /** The organization, in which all of them are. */
  readonly team: string;
  /** The uid of the person who is viewer, and owner for an hour. */
  readonly elevated: string;
  /** The role binding of the hour, and the request that gave it. */
  readonly binding: string;
  readonly request: string;
  readonly rule: string;
  /** Another account of the same person, without any role, and a workload without any role. */
  readonly second: string;
  readonly workload: string;
  /** A person who may approve. */
  readonly approver: string;
}

/** An attempt: what happens during the hour, and for what is allowed then, what is tried after it. */
type Attempt = (scene: Scene) => Promise<RestReply | ((scene: Scene) => Promise<RestReply | undefined>)>;

after(stopPostgres);

for (const database of databases) {
  describe(`attempts to keep a role for an hour, ${database}`, () => {
    let server: TestServer;
    let clock: TurnableClock;
    let serial = 0;

    before(async () => {
      clock = turnableClock();
      server = await startTestServer({ database, clock: clock.read });
    });
    after(() => server[Symbol.asyncDispose]());
    // The budgets of callers grow with time, and tokens end.
    beforeEach(() => clock.advance(minute));

    const send = async (by: string, method: string, path: string, body?: object) =>
      await rest(server.url, await server.tokenOf(by), method, path, body);
    async function call(by: string, method: string, path: string, body?: object) {
      const reply = await send(by, method, path, body);
      assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`);
      return reply.body;
    }
    const at = (offset: number) => new Date(clock.read() + offset).toISOString();
    const nothing = async () => undefined;

    /** An organization whose viewer is owner for an hour, by a request that another person approved. */
    async function newScene(): Promise<Scene> {
      const team = await addGroup(server, null, `team-${serial++}`);
      const person = async (role?: string) => {
        const name = `person-${serial++}`;
        const uid = await addPerson(server, name, `${name}@example.org`, team);
        if (role) await bind(server, team, uid, role);
        return uid;
      };
      const [elevated, approver, second] = [await person(viewerRole.uid), await person(ownerRole.uid), await person()];
      const { uid: rule } = await call(approver, "POST", `${access}/requestRules/${team}`, {
        name: "rule",
        roleUids: [ownerRole.uid, editorRole.uid],
        eligibleRoleUids: [viewerRole.uid],
        maxDuration: "28800s",
      });
      const maker = await person(ownerRole.uid);
      await call(maker, "PATCH", `${access}/requestRules/${rule}`, { description: "of another owner" });
      const request = await ask({ team, elevated }, {});
      const { roleBindingUid } = await call(approver, "POST", `${access}/requests/${request}:approve`, {});
      const workload = await addIdentity(server, team, { name: `workload-${serial++}` });
      return { team, elevated, second, workload, approver, rule, request, binding: roleBindingUid };
    }

    /** Requests a role, owner for an hour unless something else is said, and returns the uid of the request. */
    async function ask({ team, elevated }: Pick<Scene, "team" | "elevated">, wanted: object, by = elevated) {
      const accessRequest = { roleUid: ownerRole.uid, duration: "3600s", reason: "INC-1", ...wanted };
      return (await call(by, "POST", `${access}/requests/${team}`, accessRequest)).uid as string;
    }

    /** Whether an identity may do something that only editors and owners may. */
    async function mayWrite(team: string, by: string): Promise<boolean> {
      const { status } = await send(by, "POST", `/registry/v2beta1/repos/${team}`, { name: `repo-${serial++}` });
      return status === 200;
    }
    const mayRead = async (team: string, by: string) => (await send(by, "GET", `${iam}/groups/${team}`)).status === 200;

    /** Binds viewer without an end: what the elevated person finds, and may try to change. */
    async function lasting({ team }: Scene, identity: string, role = viewerRole.uid): Promise<string> {
      if (role === ownerRole.uid) lastingOwners.add(identity);
      return await bind(server, team, identity, role);
    }
    /** Workloads that are owners without an end, by others. */
    const lastingOwners = new Set<string>();

    const attempts: Readonly<Record<string, Attempt>> = {
      "a role binding for a second account": ({ team, elevated, second }) =>
        send(elevated, "POST", `${iam}/roleBindings/${team}`, { identityUid: second, roleUid: ownerRole.uid }),
      "a role binding of a role that they have without an end": ({ team, elevated, second }) =>
        send(elevated, "POST", `${iam}/roleBindings/${team}`, { identityUid: second, roleUid: viewerRole.uid }),
      "another role for themselves": ({ team, elevated }) =>
        send(elevated, "POST", `${iam}/roleBindings/${team}`, { identityUid: elevated, roleUid: editorRole.uid }),
      "a batch of role bindings": ({ team, elevated, second }) =>
        send(elevated, "POST", `${iam}/roleBindings:batchCreate`, {
          parent: team,
          requests: [{ roleBinding: { identityUid: second, roleUid: editorRole.uid } }],
        }),
      "a role binding of version 1": ({ team, elevated, second }) =>
        send(elevated, "POST", `/iam/v1/rolebindings/${team}`, { identity: second, role: editorRole.uid }),
      "a batch of version 1": ({ team, elevated, second }) =>
        send(elevated, "POST", `/iam/v1/rolebindings/batch/${team}`, [{ identity: second, role: editorRole.uid }]),
      "a role binding of version 2": ({ team, elevated, second }) =>
        send(elevated, "POST", `/iam/v2/roleBindings/${team}`, { identityUid: second, roleUid: editorRole.uid }),
      "a role binding with a later end": ({ team, elevated, second }) =>
        send(elevated, "POST", `${access}/roleBindingTerms/${team}`, {
          identityUid: second,
          roleUid: editorRole.uid,
          ttl: "7200s",
        }),
      "a role binding that begins after the hour": ({ team, elevated, second }) =>
        send(elevated, "POST", `${access}/roleBindingTerms/${team}`, {
          identityUid: second,
          roleUid: editorRole.uid,
          startTime: at(2 * hour),
          expireTime: at(3 * hour),
        }),
      "a role binding that ends with the hour": async ({ team, elevated, second }) => {
        const body = { identityUid: second, roleUid: editorRole.uid, ttl: "3000s" };
        await call(elevated, "POST", `${access}/roleBindingTerms/${team}`, body);
        assert.equal(await mayWrite(team, second), true);
        return nothing;
      },
      "a later end for themselves": ({ elevated, binding }) =>
        send(elevated, "PATCH", `${access}/roleBindingTerms/${binding}`, { ttl: "36000s" }),
      "no end for themselves": ({ elevated, binding }) =>
        send(elevated, "PATCH", `${access}/roleBindingTerms/${binding}?update_mask=expire_time`, {}),
      "a wider role in a role binding without an end": async (scene) =>
        send(scene.elevated, "PATCH", `${iam}/roleBindings/${await lasting(scene, scene.second)}`, {
          roleUid: ownerRole.uid,
        }),
      "a wider role in a role binding without an end, by version 1": async (scene) =>
        send(scene.elevated, "PUT", `/iam/v1/rolebindings/${await lasting(scene, scene.second)}`, {
          identity: scene.second,
          role: ownerRole.uid,
        }),
      "their second account in a role binding without an end": async (scene) =>
        send(scene.elevated, "PATCH", `${iam}/roleBindings/${await lasting(scene, scene.workload)}`, {
          identityUid: scene.second,
        }),
      "more capabilities in a role that the second account has": async (scene) => {
        const role = await addRole(server, scene.team, []);
        await lasting(scene, scene.second, role);
        return await send(scene.elevated, "PATCH", `${iam}/roles/${role}`, { capabilities: ["CAP_REPO_CREATE"] });
      },
      "their own subject in a workload with a role": async (scene) => {
        await lasting(scene, scene.workload, ownerRole.uid);
        return await send(scene.elevated, "PATCH", `${iam}/identities/${scene.workload}`, {
          claimMatch: { issuer: "https://attacker.example.org", subject: "me" },
        });
      },
      "their own static keys in a workload with a role": async (scene) => {
        await lasting(scene, scene.workload, ownerRole.uid);
        return await send(scene.elevated, "PATCH", `${iam}/identities/${scene.workload}`, {
          staticKeys: {
            issuer: "https://attacker.example.org",
            subject: "me",
            issuerKeys: keySetText(keyPair("ES256")),
          },
        });
      },
      "another policy for the names of a workload with a role": async (scene) => {
        await lasting(scene, scene.workload, ownerRole.uid);
        const path = `/gatehouse/iam/v1/trust/${scene.workload}?update_mask=name_policy`;
        return await send(scene.elevated, "PATCH", path, { namePolicy: "NAME_POLICY_OFF" });
      },
      "a name that was refused, in a workload with a role": async (scene) => {
        await lasting(scene, scene.workload, ownerRole.uid);
        return await send(scene.elevated, "POST", `/gatehouse/iam/v1/trust/${scene.workload}:acceptNames`, {
          refusedNames: [{ kind: "owner", name: "attacker", id: "1" }],
        });
      },
      "an invite, accepted after the hour": async ({ team, elevated }) => {
        const body = { roleUid: editorRole.uid, ttl: "36000s" };
        const { uid } = await call(elevated, "POST", `${iam}/groupInvites/${team}`, body);
        return ({ approver }) => requireNotInForce(approver, uid);
      },
      "a SCIM token": async ({ team, elevated }) => {
        const oidc = { issuer: "https://idp.example.org", clientId: "gatehouse", clientSecret: "secret-of-the-client" };
        const provider = { name: "own", defaultRole: editorRole.uid, oidc };
        const { uid } = await call(elevated, "POST", `${iam}/identityProviders/${team}`, provider);
        const path = `${iam}/identityProviders/${uid}`;
        const { token, etag } = await call(elevated, "POST", `${path}:generateScimToken`, {});
        await call(elevated, "POST", `${path}:setScimEnabled`, { enabled: true, etag });
        const users = async () =>
          (await fetch(`${server.url}/scim/v2/${uid}/Users`, { headers: { authorization: `Bearer ${token}` } })).status;
        assert.equal(await users(), 200);
        return async ({ approver }) => {
          await requireNotInForce(approver, uid);
          assert.notEqual(await users(), 200);
          return undefined;
        };
      },
      "a rule by which they can request": ({ team, elevated, second }) =>
        send(elevated, "POST", `${access}/requestRules/${team}`, {
          name: "own",
          roleUids: [ownerRole.uid],
          eligibleIdentityUids: [second],
          requiredApprovals: 0,
        }),
      "no approvals in a rule": ({ elevated, rule }) =>
        send(elevated, "PATCH", `${access}/requestRules/${rule}`, { requiredApprovals: 0 }),
      "break-glass in a rule": ({ elevated, rule }) =>
        send(elevated, "PATCH", `${access}/requestRules/${rule}`, { breakGlass: true }),
      "their second account as an approver of a rule": ({ elevated, rule, second }) =>
        send(elevated, "PATCH", `${access}/requestRules/${rule}`, { approverIdentityUids: [second] }),
      "a rule for which they vouch themselves": async ({ elevated, rule }) => {
        await send(elevated, "POST", `/gatehouse/iam/v1/delegations/${rule}:confirm`, {});
        return async (scene) => {
          // The rule is the maker's, or in force no more.
          const { status, body } = await send(scene.elevated, "POST", `${access}/requests/${scene.team}`, {
            roleUid: editorRole.uid,
            reason: "INC-2",
          });
          assert.ok(status !== 200 || body.state === "ACCESS_REQUEST_STATE_PENDING", JSON.stringify(body));
          return undefined;
        };
      },
      "the approval of their own request": async (scene) =>
        send(scene.elevated, "POST", `${access}/requests/${await ask(scene, { roleUid: editorRole.uid })}:approve`, {}),
      "the approval of their own request by a second account with their role": async (scene) => {
        const { team, elevated, second } = scene;
        const term = { identityUid: second, roleUid: ownerRole.uid, ttl: "3000s" };
        await call(elevated, "POST", `${access}/roleBindingTerms/${team}`, term);
        const uid = await ask(scene, { roleUid: editorRole.uid, duration: "28800s" });
        return await send(second, "POST", `${access}/requests/${uid}:approve`, {});
      },
      "the approval of a longer request of a second account": async (scene) => {
        await lasting(scene, scene.second);
        const uid = await ask(scene, { roleUid: editorRole.uid, duration: "28800s" }, scene.second);
        return await send(scene.elevated, "POST", `${access}/requests/${uid}:approve`, {});
      },
      "a request of a role for which only owners are eligible": async ({ team, elevated, approver }) => {
        const rule = { name: "owners", roleUids: [editorRole.uid], eligibleRoleUids: [ownerRole.uid] };
        await call(approver, "POST", `${access}/requestRules/${team}`, {
          ...rule,
          requiredApprovals: 0,
          breakGlass: true,
        });
        const { uid } = (await call(approver, "GET", `${access}/requestRules?name=owners`)).accessRequestRules[0];
        const wanted = { roleUid: editorRole.uid, reason: "INC-2", duration: "28800s", ruleUid: uid };
        const replies = [wanted, { ...wanted, breakGlass: true }].map((one) =>
          send(elevated, "POST", `${access}/requests/${team}`, one),
        );
        const [first, second] = await Promise.all(replies);
        assert.equal(second!.status, 403, JSON.stringify(second!.body));
        return first!;
      },
      "the approval, after the hour, of a request by its role": async (scene) => {
        const { team, elevated, approver } = scene;
        const rule = { name: "owners", roleUids: [editorRole.uid], eligibleRoleUids: [ownerRole.uid] };
        const { uid: ruleUid } = await call(approver, "POST", `${access}/requestRules/${team}`, rule);
        const uid = await ask(scene, { roleUid: editorRole.uid, duration: "600s", ruleUid }, elevated);
        return () => send(approver, "POST", `${access}/requests/${uid}:approve`, {});
      },
      "a request with a time of no meaning": async ({ team, elevated }) => {
        for (const duration of ["-3600s", "0s", "28801s", "315576000000s"]) {
          const wanted = { roleUid: editorRole.uid, reason: "INC-2", duration };
          const { status, body } = await send(elevated, "POST", `${access}/requests/${team}`, wanted);
          assert.ok(status === 400 || status === 403, JSON.stringify(body));
        }
        return nothing;
      },
      "a term with a time of no meaning": async ({ elevated, binding }) => {
        for (const term of [
          { ttl: "-3600s" },
          { ttl: "315576000000s" },
          { expireTime: "9999-12-31T23:59:59Z" },
          { expireTime: "0001-01-01T00:00:00Z" },
          { startTime: at(-hour), expireTime: at(2 * hour) },
        ]) {
          const { status, body } = await send(elevated, "PATCH", `${access}/roleBindingTerms/${binding}`, term);
          assert.ok(status === 400 || status === 403, `${JSON.stringify(term)}: ${JSON.stringify(body)}`);
        }
        return nothing;
      },
      "a file with a role binding": ({ team, elevated, second }) =>
        send(elevated, "POST", "/gatehouse/apply/v1/resources:apply", {
          groupUid: team,
          resources: [{ roleBinding: { identityUid: second, role: "editor" } }],
        }),
      "an import of an organization": ({ team, elevated, second }) =>
        send(elevated, "POST", `/gatehouse/organizations/v1/organizations/${team}:importResources`, {
          resources: [
            { roleBinding: { uid: `${team}/0123456789abcdef`, identityUid: second, roleUid: editorRole.uid } },
          ],
        }),
      "a group that they make": async ({ team, elevated }) => {
        const { uid } = await call(elevated, "POST", `${iam}/groups/${team}`, { name: "own" });
        return async (scene) => {
          assert.equal(await mayWrite(uid, scene.elevated), false);
          return undefined;
        };
      },
      "a token for the API": async ({ team, elevated }) => {
        // A token lives for an hour, too.
        clock.advance(30 * minute);
        const token = await server.tokenOf(elevated);
        clock.advance(31 * minute);
        return await rest(server.url, token, "POST", `/registry/v2beta1/repos/${team}`, { name: "kept" });
      },
      "a narrowed token, which requests and approves nothing": async ({ team, elevated, request }) => {
        const token = await server.tokenOf(elevated, { scopes: [team] });
        const wanted = { roleUid: editorRole.uid, reason: "INC-2" };
        const asked = await rest(server.url, token, "POST", `${access}/requests/${team}`, wanted);
        assert.equal(asked.status, 403);
        return await rest(server.url, token, "POST", `${access}/requests/${request}:approve`, {});
      },
      "a token for the registry": async ({ team, elevated, binding }) => {
        const name = `image-${serial++}`;
        await call(elevated, "POST", `/registry/v2beta1/repos/${team}`, { name });
        const token = await server.tokenOf(elevated, {}, server.config.registry.service);
        const scope = `repository:${team}/${name}:push`;
        const granted = await getToken(server.url, basic("_token", token), [scope]);
        assert.deepEqual(granted.access, [scope]);
        const { terms } = await call(elevated, "GET", `${access}/roleBindingTerms?identity=${elevated}`);
        const { expireTime } = terms.find(({ uid }: { uid: string }) => uid === binding);
        assert.ok(decodeJwt(granted.body.token).exp! * 1000 <= Date.parse(expireTime) + 1000);
        return async (scene) => {
          const later = await server.tokenOf(scene.elevated, {}, server.config.registry.service);
          assert.deepEqual((await getToken(server.url, basic("_token", later), [scope])).access ?? [], []);
          return undefined;
        };
      },
      "the approval of their own request by a workload with their role": async (scene) => {
        const { team, elevated, workload } = scene;
        const term = { identityUid: workload, roleUid: ownerRole.uid, ttl: "3000s" };
        await call(elevated, "POST", `${access}/roleBindingTerms/${team}`, term);
        const uid = await ask(scene, { roleUid: editorRole.uid, duration: "600s" });
        return await send(workload, "POST", `${access}/requests/${uid}:approve`, {});
      },
    };

    /** Asserts that a delegation is not in force. */
    async function requireNotInForce(by: string, uid: string): Promise<undefined> {
      const { delegations = [] } = await call(by, "GET", "/gatehouse/iam/v1/delegations?page_size=200");
      const found = delegations.filter((each: { uid: string }) => each.uid === uid);
      assert.ok(found.length > 0, "it is not listed");
      for (const one of found) assert.ok(one.inactivity, `it is in force: ${JSON.stringify(one)}`);
      return undefined;
    }

    for (const [title, attempt] of Object.entries(attempts))
      it(`${title}: gives nothing when the hour is over`, async () => {
        const scene = await newScene();
        const { team, elevated, second, workload } = scene;
        assert.equal(await mayWrite(team, elevated), true);
        const before = { second: await mayRead(team, second), workload: await mayRead(team, workload) };
        assert.deepEqual(before, { second: false, workload: false });
        const outcome = await attempt(scene);
        if (typeof outcome !== "function") assert.equal(outcome.status, 403, show(outcome));
        clock.advance(hour + minute);
        const later = typeof outcome === "function" ? await outcome(scene) : undefined;
        if (later) assert.equal(later.status, 403, show(later));
        for (const identity of [elevated, second, workload].filter((uid) => !lastingOwners.has(uid)))
          assert.equal(await mayWrite(team, identity), false, identity);
      });

    const show = ({ status, body }: RestReply) => `${status}: ${JSON.stringify(body)}`;
  });
}
