// Access requests: nobody gets a role by a request that nobody with the right to do so approved, and none for longer than requested.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import { newUserRow } from "../../src/services/iam/users/user-row.ts";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { deleteRow, findRow, insertRow } from "../../src/storage/collection/rows.ts";
import { identityCollection, roleBindingCollection } from "../../src/storage/iam/collections.ts";
import { deleteMembership, insertMembership } from "../../src/storage/iam/memberships.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { type TurnableClock, turnableClock } from "./ground.ts";
import { addCaller, addGroup, addIdentity, addPerson, arrange, bind, ownerRole, viewerRole } from "./tree.ts";

const editorRole = builtInRoles.find(({ name }) => name === "editor")!;
const [minute, hour] = [60_000, 3_600_000];

after(stopPostgres);

for (const database of databases) {
  describe(`access requests, ${database}`, () => {
    let server: TestServer;
    let clock: TurnableClock;
    let owner: string;
    /** A group below the organization. */
    let team: string;
    /** A viewer of the team, who may request, and two owners of the organization, who may approve. */
    let requester: Person;
    let approver: Person;
    let other: Person;
    let people = 0;

    interface Person {
      readonly uid: string;
      /** The uid, too: each call has a new token. */
      readonly token: string;
      readonly binding: string;
    }

    before(async () => {
      clock = turnableClock();
      server = await startTestServer({ database, clock: clock.read });
    });
    after(() => server[Symbol.asyncDispose]());
    beforeEach(async () => {
      // The budgets of callers grow with time, and tokens end.
      clock.advance(minute);
      owner = server.ownerUid;
      team = await addGroup(server, server.groupUid, `team-${people}`);
      requester = await person(team, viewerRole.uid);
      approver = await person(server.groupUid, ownerRole.uid);
      other = await person(server.groupUid, ownerRole.uid);
    });

    async function person(groupUid: string, roleUid: string): Promise<Person> {
      const name = `person-${people++}`;
      const uid = await addPerson(server, name, `${name}@example.org`, server.groupUid);
      const binding = await bind(server, groupUid, uid, roleUid);
      return { uid, binding, token: uid };
    }

    /** Sends a request as the identity of a uid, or with a token. */
    const sendTo = async (caller: string, method: string, path: string, body?: object) =>
      rest(server.url, caller.includes(".") ? caller : await server.tokenOf(caller), method, path, body);
    const send = (caller: string, method: string, path: string, body?: object) =>
      sendTo(caller, method, `/access/v1/${path}`, body);

    async function call(token: string, method: string, path: string, body?: object) {
      const reply = await send(token, method, path, body);
      assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`);
      return reply.body;
    }

    async function denied(reason: string, token: string, method: string, path: string, body?: object) {
      const { status, body: error } = await send(token, method, path, body);
      assert.notEqual(status, 200, `${method} ${path} succeeded`);
      assert.ok(JSON.stringify(error).includes(reason), `${reason} is expected: ${JSON.stringify(error)}`);
    }

    /** Makes a rule as an owner: viewers may request the role editor. */
    const rule = (changes: object = {}, token = owner) =>
      call(token, "POST", `requestRules/${team}`, {
        name: `rule ${people}`,
        roleUids: [editorRole.uid],
        eligibleRoleUids: [viewerRole.uid],
        ...changes,
      });
    const request = (changes: object = {}, token = requester.token) =>
      call(token, "POST", `requests/${team}`, wanted(changes));
    const wanted = (changes: object = {}) => ({
      roleUid: editorRole.uid,
      duration: "3600s",
      reason: "INC-1",
      ...changes,
    });
    const approve = (uid: string, by = approver) => call(by.token, "POST", `requests/${uid}:approve`, {});
    const end = (uid: string, by = requester) => call(by.token, "POST", `requests/${uid}:end`, {});
    const get = (uid: string) => call(owner, "GET", `requests/${uid}`);
    const stateOf = async (uid: string): Promise<string> => (await get(uid)).state.replace("ACCESS_REQUEST_STATE_", "");

    /** Whether the requester may do what an editor may at the team. */
    async function mayEdit(): Promise<boolean> {
      const reply = await sendTo(requester.token, "POST", `/registry/v2beta1/repos/${team}`, {
        name: `repo-${people++}`,
      });
      assert.ok(reply.status === 200 || reply.status === 403, JSON.stringify(reply.body));
      return reply.status === 200;
    }
    /** The ends of the role bindings that give the requester the role editor, from now on in minutes. */
    async function ends(): Promise<number[]> {
      const { terms = [] } = await call(owner, "GET", `roleBindingTerms?identity=${requester.uid}`);
      return terms.map(({ expireTime }: { expireTime: string }) =>
        Math.round((Date.parse(expireTime) - clock.read()) / minute),
      );
    }
    async function until(isTrue: () => Promise<boolean>): Promise<void> {
      for (let tries = 0; !(await isTrue()); tries++) {
        assert.ok(tries < 100, "background work takes too long");
        await sleep(100);
      }
    }

    it("an approved request gives the role until its end, counted from the approval", async () => {
      await rule();
      const { uid, state } = await request();
      assert.equal(state, "ACCESS_REQUEST_STATE_PENDING");
      assert.equal(await mayEdit(), false);
      clock.advance(20 * minute);
      const { toDecide } = await call(approver.token, "GET", "requests:mine");
      assert.ok(toDecide.some((one: { uid: string }) => one.uid === uid));
      const active = await approve(uid);
      assert.equal(active.state, "ACCESS_REQUEST_STATE_ACTIVE");
      assert.deepEqual(await ends(), [60]);
      assert.equal(await mayEdit(), true);
      clock.advance(hour);
      assert.equal(await mayEdit(), false);
      await until(async () => (await stateOf(uid)) === "ENDED" && (await ends()).length === 0);
    });

    it("a request is decided by nobody who is behind it", async () => {
      await rule({ approverRoleUids: [viewerRole.uid, ownerRole.uid] });
      const { uid } = await request();
      await denied("OWN_REQUEST", requester.token, "POST", `requests/${uid}:approve`, {});
      await denied("OWN_REQUEST", requester.token, "POST", `requests/${uid}:deny`, {});
      // A workload, also one that the requester may assume.
      const workload = await addCaller(server, server.groupUid, ownerRole.uid);
      await denied("not one of the people", workload.token, "POST", `requests/${uid}:approve`, {});
      // A narrowed token of a person who may approve.
      const narrowed = await server.tokenOf(approver.uid, { scopes: [server.groupUid] });
      await denied("narrowed", narrowed, "POST", `requests/${uid}:approve`, {});
      await denied("narrowed", narrowed, "POST", `requests/${team}`, wanted());
      assert.equal(await mayEdit(), false);
      assert.equal(await stateOf(uid), "PENDING");
    });

    it("a person who made a request by a workload does not approve it", async () => {
      await rule();
      const issuer = "https://login.example.org";
      const { uid: assumed } = await addCaller(server, team, viewerRole.uid);
      const act = { iss: issuer, sub: "person-behind", aud: server.config.baseUrl };
      const behind = userUid(issuer, act.sub);
      const { token } = await server.server.tokens.issue({
        subject: assumed,
        audience: [server.config.baseUrl],
        act,
        grants: {},
        narrowing: {},
      });
      const { uid } = await request({}, token);
      await arrange(server, async (tx) => {
        const about = { name: "p", email: "", emailUnverified: "", issuer, subject: act.sub };
        await insertRow(tx, identityCollection, newUserRow(behind, tx.context.time, about));
        await insertMembership(tx, { identityUid: behind, groupUid: server.groupUid });
      });
      await bind(server, server.groupUid, behind, ownerRole.uid);
      await denied("OWN_REQUEST", await server.tokenOf(behind), "POST", `requests/${uid}:approve`, {});
      assert.equal((await approve(uid)).state, "ACCESS_REQUEST_STATE_ACTIVE");
    });

    it("an approval counts only while its approver may approve", async () => {
      await rule({ requiredApprovals: 2 });
      const { uid } = await request();
      assert.equal((await approve(uid)).state, "ACCESS_REQUEST_STATE_PENDING");
      await denied("already", approver.token, "POST", `requests/${uid}:approve`, {});
      await arrange(server, async (tx) =>
        deleteRow(tx, roleBindingCollection, (await findRow(tx, roleBindingCollection, approver.binding))!),
      );
      const second = await approve(uid, other);
      assert.equal(second.state, "ACCESS_REQUEST_STATE_PENDING");
      assert.deepEqual(
        second.decisions.map(({ counts = false }) => counts),
        [false, true],
      );
      assert.equal(await mayEdit(), false);
      const third = await person(server.groupUid, ownerRole.uid);
      assert.equal((await approve(uid, third)).state, "ACCESS_REQUEST_STATE_ACTIVE");
      assert.equal(await mayEdit(), true);
    });

    it("the approval of a listed person does not count once the person has left", async () => {
      await rule({ requiredApprovals: 2, approverIdentityUids: [approver.uid, other.uid] });
      const { uid } = await request();
      await approve(uid);
      const left = { identityUid: approver.uid, groupUid: server.groupUid };
      await arrange(server, (tx) => deleteMembership(tx, left));
      assert.equal((await approve(uid, other)).state, "ACCESS_REQUEST_STATE_PENDING");
      assert.equal(await mayEdit(), false);
    });

    it("a request whose requester is not eligible any more gives nothing", async () => {
      await rule();
      const { uid } = await request();
      await arrange(server, async (tx) =>
        deleteRow(tx, roleBindingCollection, (await findRow(tx, roleBindingCollection, requester.binding))!),
      );
      await denied("NOT_ELIGIBLE", approver.token, "POST", `requests/${uid}:approve`, {});
      assert.deepEqual(await ends(), []);
      await denied("NOT_ELIGIBLE", requester.token, "POST", `requests/${team}`, wanted());
    });

    it("a rule gives nothing once its maker does not hold its roles without an end", async () => {
      const maker = await person(server.groupUid, ownerRole.uid);
      const { uid: ruleUid } = await rule({}, maker.token);
      const { uid } = await request();
      await call(owner, "PATCH", `roleBindingTerms/${maker.binding}`, { ttl: "7200s" });
      await denied("DELEGATION_INACTIVE", approver.token, "POST", `requests/${uid}:approve`, {});
      await denied("DELEGATION_INACTIVE", requester.token, "POST", `requests/${team}`, wanted());
      // Another owner vouches.
      await sendTo(owner, "POST", `/gatehouse/iam/v1/delegations/${ruleUid}:confirm`, {});
      assert.equal((await approve(uid)).state, "ACCESS_REQUEST_STATE_ACTIVE");
    });

    it("who holds a role for a time makes no rule", async () => {
      const elevated = await person(server.groupUid, ownerRole.uid);
      await call(owner, "PATCH", `roleBindingTerms/${elevated.binding}`, { ttl: "3600s" });
      const body = { name: "rule", roleUids: [editorRole.uid], eligibleRoleUids: [viewerRole.uid] };
      await denied("TERM_OUTLIVES_CALLER", elevated.token, "POST", `requestRules/${server.groupUid}`, body);
      const { uid } = await rule();
      const changed = { accessRequestRule: { uid, requiredApprovals: 0 } };
      await denied("TERM_OUTLIVES_CALLER", elevated.token, "PATCH", `requestRules/${uid}`, changed.accessRequestRule);
    });

    it("a rule does not give what its maker does not hold", async () => {
      const editor = await person(server.groupUid, editorRole.uid);
      const body = { name: "rule", roleUids: [ownerRole.uid], eligibleRoleUids: [editorRole.uid] };
      await denied("capabilities", editor.token, "POST", `requestRules/${server.groupUid}`, body);
    });

    it("one of 50 approvals of a request at once gives the role, by one role binding", async () => {
      await rule();
      const { uid } = await request();
      const approvers = await Promise.all(Array.from({ length: 10 }, () => person(server.groupUid, ownerRole.uid)));
      const replies = await Promise.all(
        Array.from({ length: 50 }, (_, i) => send(approvers[i % 10]!.token, "POST", `requests/${uid}:approve`, {})),
      );
      assert.equal(replies.filter(({ status }) => status === 200).length, 1);
      assert.deepEqual(await ends(), [60]);
      assert.equal((await get(uid)).decisions.length, 1);
    });

    it("a role by two overlapping requests ends with the later one, and with the other one if that is given back", async () => {
      await rule();
      const [short, long] = [await request(), await request({ duration: "7200s" })];
      await approve(long.uid);
      await approve(short.uid);
      assert.deepEqual(await ends(), [120]);
      await end(long.uid);
      assert.deepEqual(await ends(), [60]);
      assert.equal(await mayEdit(), true);
      await end(short.uid);
      assert.deepEqual(await ends(), []);
      assert.equal(await mayEdit(), false);
      await denied("REQUEST_NOT_ACTIVE", requester.token, "POST", `requests/${short.uid}:end`, {});
    });

    it("the shorter of overlapping requests ends, and the role stays until the end of the longer one", async () => {
      await rule();
      const [short, long] = [await request(), await request({ duration: "7200s" })];
      await approve(short.uid);
      await approve(long.uid);
      clock.advance(61 * minute);
      // Also before the server has closed it.
      await denied("REQUEST_NOT_ACTIVE", requester.token, "POST", `requests/${short.uid}:end`, {});
      await until(async () => (await stateOf(short.uid)) === "ENDED");
      assert.equal(await mayEdit(), true);
      assert.deepEqual(await ends(), [59]);
      clock.advance(hour);
      assert.equal(await mayEdit(), false);
      await until(async () => (await stateOf(long.uid)) === "ENDED");
    });

    it("a term set by hand stays when a request is given back, and a request does not outlast a shortened one", async () => {
      await rule();
      const term = { identityUid: requester.uid, roleUid: editorRole.uid, ttl: "1800s" };
      const { uid: binding } = await call(owner, "POST", `roleBindingTerms/${team}`, term);
      const [first, second] = [await request(), await request({ duration: "7200s" })];
      await approve(first.uid);
      await approve(second.uid);
      assert.deepEqual(await ends(), [120]);
      await end(second.uid);
      assert.deepEqual(await ends(), [60]);
      await end(first.uid);
      assert.deepEqual(await ends(), [30]);
      const third = await request();
      await approve(third.uid);
      await call(owner, "PATCH", `roleBindingTerms/${binding}`, { ttl: "600s" });
      await end(third.uid);
      assert.deepEqual(await ends(), [10]);
    });

    it("a request of a role that is held without an end is rejected", async () => {
      await rule();
      const { uid } = await request();
      await bind(server, team, requester.uid, editorRole.uid);
      await denied("ALREADY_HELD", approver.token, "POST", `requests/${uid}:approve`, {});
      await denied("ALREADY_HELD", requester.token, "POST", `requests/${team}`, wanted());
    });

    it("an active request ends with its role binding", async () => {
      await rule();
      const { uid } = await request();
      const { roleBindingUid } = await approve(uid);
      const reply = await sendTo(owner, "DELETE", `/iam/v2beta1/roleBindings/${roleBindingUid}`);
      assert.equal(reply.status, 200);
      assert.equal(await stateOf(uid), "ENDED");
    });

    it("a pending request expires, and is not approved after that", async () => {
      await rule({ decisionTime: "300s" });
      const { uid } = await request();
      clock.advance(5 * minute);
      await denied("REQUEST_DECIDED", approver.token, "POST", `requests/${uid}:approve`, {});
      await until(async () => (await stateOf(uid)) === "EXPIRED");
    });

    it("a denied, a cancelled and an active request are decided", async () => {
      await rule();
      const [deniedOne, cancelled, active] = [await request(), await request(), await request()];
      await call(approver.token, "POST", `requests/${deniedOne.uid}:deny`, { comment: "not today" });
      await denied("only the requester", approver.token, "POST", `requests/${cancelled.uid}:cancel`, {});
      await call(requester.token, "POST", `requests/${cancelled.uid}:cancel`, {});
      await approve(active.uid);
      for (const { uid } of [deniedOne, cancelled, active]) {
        await denied("REQUEST_DECIDED", other.token, "POST", `requests/${uid}:approve`, {});
        await denied("REQUEST_DECIDED", other.token, "POST", `requests/${uid}:deny`, {});
        await denied("REQUEST_DECIDED", requester.token, "POST", `requests/${uid}:cancel`, {});
      }
    });

    it("deleting a rule or the requester cancels pending requests, and keeps what is given until its end", async () => {
      const { uid: ruleUid } = await rule();
      const [pending, active] = [await request(), await request()];
      await approve(active.uid);
      await call(owner, "DELETE", `requestRules/${ruleUid}`);
      assert.deepEqual([await stateOf(pending.uid), await stateOf(active.uid)], ["CANCELLED", "ACTIVE"]);
      assert.equal(await mayEdit(), true);
      await denied("NOT_ELIGIBLE", requester.token, "POST", `requests/${team}`, wanted());
      await rule();
      const workload = await addIdentity(server, team);
      const binding = await bind(server, team, workload, viewerRole.uid);
      const { uid } = await request({}, await server.tokenOf(workload));
      await sendTo(owner, "DELETE", `/iam/v2beta1/roleBindings/${binding}`);
      assert.equal((await sendTo(owner, "DELETE", `/iam/v2beta1/identities/${workload}`)).status, 200);
      assert.equal(await stateOf(uid), "CANCELLED");
    });

    it("a stranger sees no request, and does not learn which rules and groups there are", async () => {
      await rule();
      const { uid } = await request();
      const elsewhere = await person(await addGroup(server, null, `elsewhere-${people}`), ownerRole.uid);
      for (const action of ["approve", "deny", "cancel", "end"])
        await denied("NOT_FOUND", elsewhere.token, "POST", `requests/${uid}:${action}`, {});
      await denied("NOT_FOUND", elsewhere.token, "GET", `requests/${uid}`);
      const real = await send(elsewhere.token, "POST", `requests/${team}`, wanted());
      const missing = await send(elsewhere.token, "POST", `requests/${server.groupUid}/0123456789abcdef`, wanted());
      assert.deepEqual([real.status, real.body.message], [missing.status, missing.body.message]);
      const { requests = [], toDecide = [] } = await call(elsewhere.token, "GET", "requests:mine");
      assert.deepEqual([requests, toDecide], [[], []]);
    });

    it("an identity has at most 20 pending requests", async () => {
      await rule();
      for (let i = 0; i < 20; i++) await request();
      await denied("RESOURCE_EXHAUSTED", requester.token, "POST", `requests/${team}`, wanted());
    });

    it("a rule without approvals gives the role at once, if its pattern matches the reason", async () => {
      await rule({ requiredApprovals: 0, reasonPattern: "INC-[0-9]+", maxDuration: "3600s" });
      await denied("must match", requester.token, "POST", `requests/${team}`, wanted({ reason: "please" }));
      await denied("at most 60 minutes", requester.token, "POST", `requests/${team}`, wanted({ duration: "3601s" }));
      assert.equal((await request()).state, "ACCESS_REQUEST_STATE_ACTIVE");
      assert.equal(await mayEdit(), true);
    });

    it("an eligible person takes a role by break-glass, and it is the first finding until another person acknowledges it", async () => {
      await rule({ breakGlass: true });
      const { uid, state, expireTime } = await request({ breakGlass: true });
      assert.equal(state, "ACCESS_REQUEST_STATE_ACTIVE");
      assert.equal(Math.round((Date.parse(expireTime) - clock.read()) / minute), 60);
      assert.equal(await mayEdit(), true);
      const findings = async () => {
        const path = `/gatehouse/organizations/v1/findings?parent=${server.groupUid}`;
        return (await sendTo(owner, "GET", path)).body.findings ?? [];
      };
      const [first] = await findings();
      assert.equal(first.kind, "FINDING_KIND_BREAK_GLASS_UNACKNOWLEDGED");
      assert.deepEqual([first.resourceUid, first.identity.uid], [uid, requester.uid]);
      assert.deepEqual([first.accessRequest.reason, first.accessRequest.roleName], ["INC-1", "editor"]);
      await denied("OWN_REQUEST", requester.token, "POST", `requests/${uid}:acknowledge`, {});
      await end(uid);
      assert.equal((await findings())[0].resourceUid, uid);
      const inbox = await call(approver.token, "GET", "requests:mine");
      assert.ok(inbox.toAcknowledge.some((one: { uid: string }) => one.uid === uid));
      const acknowledged = await call(approver.token, "POST", `requests/${uid}:acknowledge`, { comment: "seen" });
      const { identityUid, comment } = acknowledged.acknowledgement;
      assert.deepEqual(
        [identityUid, comment, acknowledged.state],
        [approver.uid, "seen", "ACCESS_REQUEST_STATE_ENDED"],
      );
      assert.ok((await findings()).every(({ resourceUid }: { resourceUid: string }) => resourceUid !== uid));
      await denied("NOTHING_TO_ACKNOWLEDGE", other.token, "POST", `requests/${uid}:acknowledge`, {});
    });

    it("break-glass needs a rule that allows it, a person, an eligible requester and a maker who vouches", async () => {
      const { uid: ruleUid } = await rule();
      await denied("NOT_ELIGIBLE", requester.token, "POST", `requests/${team}`, wanted({ breakGlass: true }));
      await call(owner, "PATCH", `requestRules/${ruleUid}`, { breakGlass: true });
      const stranger = await person(await addGroup(server, null, `elsewhere-${people}`), viewerRole.uid);
      await denied("NOT_ELIGIBLE", stranger.token, "POST", `requests/${team}`, wanted({ breakGlass: true }));
      const { token: workload } = await addCaller(server, team, viewerRole.uid);
      await denied("only people", workload, "POST", `requests/${team}`, wanted({ breakGlass: true }));
      const narrowed = await server.tokenOf(requester.uid, { scopes: [team] });
      await denied("narrowed", narrowed, "POST", `requests/${team}`, wanted({ breakGlass: true }));
      const maker = await person(server.groupUid, ownerRole.uid);
      await call(maker.token, "PATCH", `requestRules/${ruleUid}`, { breakGlass: true, description: "mine" });
      await call(owner, "PATCH", `roleBindingTerms/${maker.binding}`, { ttl: "7200s" });
      await denied("DELEGATION_INACTIVE", requester.token, "POST", `requests/${team}`, wanted({ breakGlass: true }));
      assert.deepEqual(await ends(), []);
    });

    it("break-glass is acknowledged by people who may approve without an end, and by nobody who got that right by it", async () => {
      await rule({ roleUids: [ownerRole.uid], breakGlass: true });
      const { uid } = await request({ roleUid: ownerRole.uid, breakGlass: true });
      // The new owner gives the role to an accomplice, for as long as it lasts.
      const accomplice = await person(server.groupUid, viewerRole.uid);
      const term = { identityUid: accomplice.uid, roleUid: ownerRole.uid, ttl: "3000s" };
      await call(requester.token, "POST", `roleBindingTerms/${team}`, term);
      await denied("TERM_OUTLIVES_CALLER", accomplice.token, "POST", `requests/${uid}:acknowledge`, {});
      const member = await person(await addGroup(server, server.groupUid, `apart-${people}`), viewerRole.uid);
      await denied("NOT_FOUND", member.token, "POST", `requests/${uid}:acknowledge`, {});
      const viewer = await person(team, viewerRole.uid);
      await denied("not one of the people", viewer.token, "POST", `requests/${uid}:acknowledge`, {});
      await call(other.token, "POST", `requests/${uid}:acknowledge`, {});
    });

    it("break-glass whose rule was deleted is acknowledged by people who may create role bindings", async () => {
      const { uid: ruleUid } = await rule({ breakGlass: true, approverIdentityUids: [other.uid] });
      const { uid } = await request({ breakGlass: true });
      await denied("not one of the people", approver.token, "POST", `requests/${uid}:acknowledge`, {});
      await call(owner, "DELETE", `requestRules/${ruleUid}`);
      await call(approver.token, "POST", `requests/${uid}:acknowledge`, {});
    });

    it("pending requests do not block break-glass, of which 20 wait to be acknowledged", async () => {
      await rule({ breakGlass: true });
      for (let i = 0; i < 20; i++) await request();
      for (let i = 0; i < 20; i++) await request({ breakGlass: true });
      await denied("RESOURCE_EXHAUSTED", requester.token, "POST", `requests/${team}`, wanted({ breakGlass: true }));
    });

    it("nobody approves a request for longer than they may approve, nor requests for longer than they are eligible", async () => {
      await rule();
      const { uid } = await request();
      const elevated = await person(server.groupUid, ownerRole.uid);
      await call(owner, "PATCH", `roleBindingTerms/${elevated.binding}`, { ttl: "3540s" });
      const { toDecide = [] } = await call(elevated.token, "GET", "requests:mine");
      assert.deepEqual(toDecide, []);
      await denied("TERM_OUTLIVES_CALLER", elevated.token, "POST", `requests/${uid}:approve`, {});
      const short = await request({ duration: "1800s" });
      assert.equal((await approve(short.uid, elevated)).state, "ACCESS_REQUEST_STATE_ACTIVE");
      await call(owner, "PATCH", `roleBindingTerms/${requester.binding}`, { ttl: "3000s" });
      await denied("NOT_ELIGIBLE", approver.token, "POST", `requests/${uid}:approve`, {});
      await denied("NOT_ELIGIBLE", requester.token, "POST", `requests/${team}`, wanted());
      await request({ duration: "2900s" });
    });

    it("a group with nothing but closed requests is deleted", async () => {
      const { uid: ruleUid } = await rule();
      const { uid } = await request();
      await call(requester.token, "POST", `requests/${uid}:cancel`, {});
      await call(owner, "DELETE", `requestRules/${ruleUid}`);
      await sendTo(owner, "DELETE", `/iam/v2beta1/roleBindings/${requester.binding}`);
      const reply = await sendTo(owner, "DELETE", `/iam/v2beta1/groups/${team}`);
      assert.equal(reply.status, 200, JSON.stringify(reply.body));
    });
  });
}
