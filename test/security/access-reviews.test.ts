// Access reviews: nobody decides about their own role bindings, and nobody gives or takes by a review what they could not without it.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import { noTerm, type Term } from "../../src/model/grants.ts";
import { newUserRow } from "../../src/services/iam/users/user-row.ts";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { wrongCounters } from "../../src/storage/check/counter-check.ts";
import { deleteRow, findRow, insertRow, updateRow } from "../../src/storage/collection/rows.ts";
import { identityCollection, roleBindingCollection } from "../../src/storage/iam/collections.ts";
import { insertMembership } from "../../src/storage/iam/memberships.ts";
import { reviewCounts } from "../../src/storage/iam/reviews/counts.ts";
import { countItems, storeDecisions } from "../../src/storage/iam/reviews/items.ts";
import type { DecidedItem } from "../../src/storage/iam/reviews/rows.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { type TurnableClock, turnableClock } from "./ground.ts";
import { addCaller, addGroup, addIdentity, addPerson, arrange, bind, ownerRole, viewerRole } from "./tree.ts";

const editorRole = builtInRoles.find(({ name }) => name === "editor")!;
/** A decision about an item that does not exist. */
const wrong: DecidedItem = { roleBindingUid: "", decision: "GONE", reviewerUid: "", comment: "", decideTime: 1 };

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];

type Owner = Awaited<ReturnType<typeof addCaller>>;

after(stopPostgres);

for (const database of databases) {
  describe(`access reviews, ${database}`, () => {
    let server: TestServer;
    let clock: TurnableClock;
    /** The token of the owner of the organization. */
    let owner: string;
    /** An organization of its own, with two owners and a viewer of a group below it. */
    let root: string;
    let team: string;
    let reviewer: Person;
    let other: Person;
    let viewer: Person;
    let people = 0;

    interface Person {
      readonly uid: string;
      readonly binding: string;
    }

    interface Item {
      readonly roleBindingUid: string;
      readonly identityUid: string;
      readonly decision: string;
      readonly reviewerUid?: string;
      readonly identityName?: string;
    }

    before(async () => {
      clock = turnableClock();
      server = await startTestServer({ database, clock: clock.read });
    });
    after(() => server[Symbol.asyncDispose]());
    beforeEach(async () => {
      clock.advance(minute);
      root = await addGroup(server, null, `org-${people}`);
      team = await addGroup(server, root, "team");
      reviewer = await person(root, ownerRole.uid);
      other = await person(root, ownerRole.uid);
      viewer = await person(team, viewerRole.uid);
      owner = reviewer.uid;
    });

    async function person(groupUid: string, roleUid: string, term: Term = noTerm): Promise<Person> {
      const name = `person-${people++}`;
      const uid = await addPerson(server, name, `${name}@example.org`, root);
      return { uid, binding: await bind(server, groupUid, uid, roleUid, term) };
    }

    /** Sends a request as the identity of a uid, or with a token. */
    const send = async (caller: string, method: string, path: string, body?: object) =>
      rest(
        server.url,
        caller.includes(".") ? caller : await server.tokenOf(caller),
        method,
        path.startsWith("/") ? path : `/access/v1/${path}`,
        body,
      );

    async function call(caller: string, method: string, path: string, body?: object) {
      const reply = await send(caller, method, path, body);
      assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`);
      return reply.body;
    }

    async function denied(reason: string, caller: string, method: string, path: string, body?: object) {
      const { status, body: error } = await send(caller, method, path, body);
      assert.notEqual(status, 200, `${method} ${path} succeeded`);
      assert.ok(JSON.stringify(error).includes(reason), `${reason} is expected: ${JSON.stringify(error)}`);
    }

    const draft = (changes: object = {}) => ({
      title: "quarter 4",
      dueTime: new Date(clock.read() + 2 * hour).toISOString(),
      onDue: "ACCESS_REVIEW_ON_DUE_END_UNCONFIRMED",
      ...changes,
    });
    const create = (changes: object = {}, caller = owner, group = root) =>
      call(caller, "POST", `reviews/${group}`, draft(changes));
    const itemsOf = async (uid: string, query = ""): Promise<Item[]> =>
      (await call(owner, "GET", `reviews/${uid}:items?pageSize=200${query}`)).items ?? [];
    const get = (uid: string) => call(owner, "GET", `reviews/${uid}`);
    const decisions = (decision: "CONFIRMED" | "REVOKED", ...bindings: string[]) => ({
      decisions: bindings.map((roleBindingUid) => ({
        roleBindingUid,
        decision: `ACCESS_REVIEW_DECISION_${decision}`,
        comment: "seen",
      })),
    });
    const decide = (uid: string, decision: "CONFIRMED" | "REVOKED", bindings: string[], caller = owner) =>
      call(caller, "POST", `reviews/${uid}:decide`, decisions(decision, ...bindings));
    const mayNot = (reason: string, uid: string, decision: "CONFIRMED" | "REVOKED", binding: string, caller: string) =>
      denied(reason, caller, "POST", `reviews/${uid}:decide`, decisions(decision, binding));
    const decisionOf = async (uid: string, binding: string): Promise<string> =>
      (await itemsOf(uid))
        .find(({ roleBindingUid }) => roleBindingUid === binding)!
        .decision.replace("ACCESS_REVIEW_DECISION_", "");
    const exists = (binding: string) =>
      arrange(server, async (tx) => (await findRow(tx, roleBindingCollection, binding)) !== undefined);
    const remove = (binding: string) =>
      arrange(server, async (tx) =>
        deleteRow(tx, roleBindingCollection, (await findRow(tx, roleBindingCollection, binding))!),
      );

    async function until(isTrue: () => Promise<boolean>): Promise<void> {
      for (let tries = 0; !(await isTrue()); tries++) {
        assert.ok(tries < 100, "background work takes too long");
        await sleep(100);
      }
    }
    const untilClosed = (uid: string) => until(async () => (await get(uid)).state === "ACCESS_REVIEW_STATE_CLOSED");

    it("a review lists the role bindings of its group and below, and decisions count", async () => {
      const ended = await person(team, editorRole.uid);
      await call(owner, "PATCH", `roleBindingTerms/${ended.binding}`, { ttl: "60s" });
      clock.advance(2 * minute);
      const review = await create();
      assert.equal(review.itemCount, 3);
      assert.deepEqual(
        (await itemsOf(review.uid)).map(({ identityUid }) => identityUid).sort(),
        [reviewer.uid, other.uid, viewer.uid].sort(),
      );
      await decide(review.uid, "CONFIRMED", [other.binding]);
      const { items } = await decide(review.uid, "REVOKED", [viewer.binding]);
      assert.equal(items[0].decision, "ACCESS_REVIEW_DECISION_REVOKED");
      assert.equal(items[0].reviewerUid, reviewer.uid);
      assert.equal(await exists(viewer.binding), false);
      const { pendingCount, confirmedCount, revokedCount } = await get(review.uid);
      assert.deepEqual([pendingCount, confirmedCount, revokedCount], [1, 1, 1]);
      assert.equal((await itemsOf(review.uid, "&decision=ACCESS_REVIEW_DECISION_PENDING")).length, 1);
    });

    it("selects by role, by holder and by last use", async () => {
      await addCaller(server, team, editorRole.uid);
      assert.equal((await create({ holders: "ACCESS_REVIEW_HOLDERS_WORKLOADS" })).itemCount, 1);
      assert.equal((await create({ holders: "ACCESS_REVIEW_HOLDERS_PEOPLE" })).itemCount, 3);
      assert.equal((await create({ roleUids: [viewerRole.uid, editorRole.uid] })).itemCount, 2);
      assert.equal((await create({ unusedDays: 30 })).itemCount <= 4, true);
      assert.equal((await create({}, owner, team)).itemCount, 2);
    });

    it("nobody decides about their own role binding", async () => {
      const { uid } = await create();
      await mayNot("OWN_BINDING", uid, "CONFIRMED", reviewer.binding, reviewer.uid);
      await mayNot("OWN_BINDING", uid, "REVOKED", reviewer.binding, reviewer.uid);
      assert.equal(await decisionOf(uid, reviewer.binding), "PENDING");
      await decide(uid, "CONFIRMED", [reviewer.binding], other.uid);
    });

    it("a person does not decide about their role binding by a workload that they have assumed", async () => {
      const issuer = "https://login.example.org";
      const act = { iss: issuer, sub: `behind-${people++}`, aud: server.config.baseUrl };
      const behind = userUid(issuer, act.sub);
      await arrange(server, async (tx) => {
        const about = { name: "p", email: "", emailUnverified: "", issuer, subject: act.sub };
        await insertRow(tx, identityCollection, newUserRow(behind, tx.context.time, about));
        await insertMembership(tx, { identityUid: behind, groupUid: root });
      });
      const binding = await bind(server, team, behind, viewerRole.uid);
      const { uid: assumed } = await addCaller(server, root, ownerRole.uid);
      const { uid } = await create();
      const { token } = await server.server.tokens.issue({
        subject: assumed,
        audience: [server.config.baseUrl],
        act,
        grants: {},
        narrowing: {},
      });
      await mayNot("OWN_BINDING", uid, "CONFIRMED", binding, token);
      await decide(uid, "CONFIRMED", [binding], assumed);
    });

    it("nobody confirms what they could not give, and nobody revokes what they could not delete", async () => {
      const { uid } = await create();
      // A viewer sees the review and decides nothing.
      const onlooker = await person(root, viewerRole.uid);
      await mayNot("role_bindings", uid, "CONFIRMED", viewer.binding, onlooker.uid);
      await mayNot("role_bindings", uid, "REVOKED", viewer.binding, onlooker.uid);
      // Who holds the capabilities for role bindings alone gives no role beyond them.
      const role = await call(owner, "POST", `/iam/v2beta1/roles/${root}`, {
        name: "binder",
        capabilities: ["CAP_IAM_ROLE_BINDINGS_CREATE", "CAP_IAM_ROLE_BINDINGS_DELETE", "CAP_IAM_ROLE_BINDINGS_LIST"],
      });
      const binder = await person(root, role.uid);
      await mayNot("capabilities that the caller does not hold", uid, "CONFIRMED", other.binding, binder.uid);
      await decide(uid, "REVOKED", [viewer.binding], binder.uid);
      assert.equal(await exists(other.binding), true);
    });

    it("who holds a role for a time confirms nothing that lasts longer", async () => {
      const { uid } = await create();
      const elevated = await person(root, ownerRole.uid, { startTime: null, expireTime: clock.read() + hour });
      await mayNot("TERM_OUTLIVES_CALLER", uid, "CONFIRMED", viewer.binding, elevated.uid);
      await denied("TERM_OUTLIVES_CALLER", elevated.uid, "POST", `reviews/${root}`, draft());
      await call(elevated.uid, "POST", `reviews/${root}`, draft({ onDue: "ACCESS_REVIEW_ON_DUE_REPORT_ONLY" }));
    });

    it("named reviewers decide, and no others", async () => {
      const { uid } = await create({ reviewerIdentityUids: [other.uid] });
      await mayNot("not one of the reviewers", uid, "CONFIRMED", viewer.binding, reviewer.uid);
      await decide(uid, "CONFIRMED", [viewer.binding], other.uid);
      // A narrowed token decides only what it was narrowed to.
      const narrowed = await server.tokenOf(other.uid, { scopes: [team] });
      await denied(
        "PERMISSION_DENIED",
        narrowed,
        "POST",
        `reviews/${uid}:decide`,
        decisions("REVOKED", viewer.binding),
      );
    });

    it("other organizations see nothing", async () => {
      const { uid } = await create();
      const foreignRoot = await addGroup(server, null, `foreign-${people++}`);
      const foreign = await addCaller(server, foreignRoot, ownerRole.uid);
      await denied("PERMISSION_DENIED", foreign.uid, "GET", `reviews/${uid}`);
      await denied("PERMISSION_DENIED", foreign.uid, "GET", `reviews/${uid}:items`);
      await denied("PERMISSION_DENIED", foreign.uid, "POST", `reviews/${uid}:close`, {});
      await denied("PERMISSION_DENIED", foreign.uid, "POST", `reviews/${root}`, draft());
      await mayNot("PERMISSION_DENIED", uid, "REVOKED", viewer.binding, foreign.uid);
      assert.deepEqual((await call(foreign.uid, "GET", "reviews")).accessReviews ?? [], []);
      // A role binding of another organization is not an item.
      const own = await call(foreign.uid, "POST", `reviews/${foreignRoot}`, draft());
      await mayNot("is not a role binding of the review", own.uid, "REVOKED", viewer.binding, foreign.uid);
      assert.equal(await exists(viewer.binding), true);
    });

    it("decides all items of a request or none, and each once", async () => {
      const { uid } = await create();
      await denied("OWN_BINDING", owner, "POST", `reviews/${uid}:decide`, {
        ...decisions("REVOKED", viewer.binding, reviewer.binding),
      });
      assert.equal(await exists(viewer.binding), true);
      await denied("must not be there twice", owner, "POST", `reviews/${uid}:decide`, {
        ...decisions("REVOKED", viewer.binding, viewer.binding),
      });
      await decide(uid, "CONFIRMED", [viewer.binding]);
      await mayNot("REVIEW_ITEM_DECIDED", uid, "REVOKED", viewer.binding, owner);
      assert.equal(await exists(viewer.binding), true);
    });

    it("one of 50 decisions at once about the same item counts", async () => {
      const deciders = await Promise.all(Array.from({ length: 10 }, () => person(root, ownerRole.uid)));
      const { uid } = await create();
      const replies = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          send(deciders[i % 10]!.uid, "POST", `reviews/${uid}:decide`, {
            ...decisions(i % 2 === 0 ? "CONFIRMED" : "REVOKED", viewer.binding),
          }),
        ),
      );
      assert.equal(replies.filter(({ status }) => status === 200).length, 1);
      const { pendingCount, confirmedCount = 0, revokedCount = 0, itemCount } = await get(uid);
      assert.deepEqual([confirmedCount + revokedCount, pendingCount], [1, itemCount - 1]);
      assert.equal(await exists(viewer.binding), confirmedCount === 1);
    });

    it("what is gone or changed is kept as it is, and the last owner stays", async () => {
      const [gone, changed] = [await person(team, editorRole.uid), await person(team, editorRole.uid)];
      // Of the owners, only workloads can get a token now. Role bindings end in the order of their uids.
      const owners = [await addCaller(server, root, ownerRole.uid), await addCaller(server, root, ownerRole.uid)];
      const [first, last] = owners.sort((one, another) => (one.binding < another.binding ? -1 : 1)) as [Owner, Owner];
      const { uid } = await create();
      await remove(gone.binding);
      await arrange(server, async (tx) => {
        const row = (await findRow(tx, roleBindingCollection, changed.binding))!;
        await updateRow(tx, roleBindingCollection, row, { ...row, roleUid: viewerRole.uid });
      });
      const { items } = await decide(uid, "CONFIRMED", [gone.binding]);
      assert.equal(items[0].decision, "ACCESS_REVIEW_DECISION_GONE");
      await decide(uid, "CONFIRMED", [reviewer.binding], other.uid);
      clock.advance(3 * hour);
      await untilClosed(uid);
      const all = [gone, changed, viewer, other, first, last];
      assert.deepEqual(await Promise.all(all.map(({ binding }) => decisionOf(uid, binding))), [
        "GONE",
        "CHANGED",
        "REVOKED",
        "REVOKED",
        "REVOKED",
        "KEPT_LAST_OWNER",
      ]);
      assert.deepEqual(await Promise.all(all.map(({ binding }) => exists(binding))), [
        false,
        true,
        false,
        false,
        false,
        true,
      ]);
      const review = await get(uid);
      assert.equal(review.keptLastOwnerCount, 1);
      assert.equal(review.revokedCount, 3);
      assert.equal(review.pendingCount ?? 0, 0);
      await mayNot("REVIEW_NOT_OPEN", uid, "CONFIRMED", last.binding, owner);
      const next = await create();
      await mayNot("LAST_OWNER", next.uid, "REVOKED", last.binding, owner);
    });

    it("people who never signed in are deleted with their last role bindings, once", async () => {
      const uid = userUid("https://login.example.org", `pending-${people++}`);
      await arrange(server, (tx) => insertRow(tx, identityCollection, newUserRow(uid, tx.context.time)));
      for (const { uid: roleUid } of [viewerRole, editorRole]) await bind(server, team, uid, roleUid);
      await call(owner, "POST", `reviews/${(await create({}, owner, team)).uid}:close`, {});
      const read = () => arrange(server, async (tx) => await findRow(tx, identityCollection, uid));
      await until(async () => (await read()) === undefined);
      for await (const wrong of wrongCounters(server.server.database.session, identityCollection))
        assert.fail(JSON.stringify(wrong));
    });

    it("a review of more role bindings than are ended at once closes when all of them are ended", async () => {
      for (let i = 0; i < 200; i++) await bind(server, team, await addIdentity(server, team), viewerRole.uid);
      const { uid } = await create({}, owner, team);
      clock.advance(3 * hour);
      await untilClosed(uid);
      const { revokedCount, pendingCount = 0 } = await get(uid);
      assert.deepEqual([revokedCount, pendingCount], [201, 0]);
    });

    it("a review that only reports ends nothing", async () => {
      const { uid } = await create({ onDue: "ACCESS_REVIEW_ON_DUE_REPORT_ONLY" });
      clock.advance(3 * hour);
      await untilClosed(uid);
      assert.equal(await exists(viewer.binding), true);
      assert.equal(await decisionOf(uid, viewer.binding), "PENDING");
    });

    it("a review ends nothing once its maker may not, unless another owner closes it", async () => {
      const maker = await person(root, ownerRole.uid);
      const [due, closed] = [await create({}, maker.uid), await create({}, maker.uid)];
      await remove(maker.binding);
      const closing = await call(other.uid, "POST", `reviews/${closed.uid}:close`, {});
      assert.equal(closing.state, "ACCESS_REVIEW_STATE_CLOSING");
      await denied("REVIEW_NOT_OPEN", other.uid, "POST", `reviews/${closed.uid}:close`, {});
      const kept = await person(team, viewerRole.uid);
      clock.advance(3 * hour);
      await until(async () => !(await exists(viewer.binding)));
      assert.equal(await exists(kept.binding), true);
      const readers = await addCaller(server, root, viewerRole.uid);
      const read = (uid: string) => call(readers.uid, "GET", `reviews/${uid}`);
      await until(async () => (await read(due.uid)).state === "ACCESS_REVIEW_STATE_CLOSED");
      await until(async () => (await read(closed.uid)).state === "ACCESS_REVIEW_STATE_CLOSED");
      assert.equal((await read(due.uid)).keptUnconfirmed, true);
      assert.equal((await read(closed.uid)).keptUnconfirmed ?? false, false);
    });

    it("a review is deleted with its group, and so are its items", async () => {
      const { uid } = await create({ onDue: "ACCESS_REVIEW_ON_DUE_REPORT_ONLY" }, owner, team);
      assert.equal((await call(owner, "GET", `reviews/${uid}:items`)).totalCount, "1");
      await remove(viewer.binding);
      await call(owner, "DELETE", `/iam/v2beta1/groups/${team}`);
      await denied("NOT_FOUND", owner, "GET", `reviews/${uid}`);
      const left = await arrange(
        server,
        async (tx) => await countItems(tx, { reviewUid: uid, decision: "", identityUid: "" }),
      );
      assert.equal(left, 0);
    });

    it("a check of the database finds and repairs the numbers of decisions", async () => {
      const { uid } = await create();
      await decide(uid, "CONFIRMED", [viewer.binding]);
      await arrange(server, (tx) => storeDecisions(tx, uid, [wrong]));
      const found = async () => {
        const findings: string[] = [];
        for await (const finding of reviewCounts.findings(server.server.database.session)) findings.push(finding);
        return findings.filter((finding) => finding.includes(uid));
      };
      assert.deepEqual(await found(), [
        `access_reviews: pendingCount of ${uid} is 1, but there are 2 items`,
        `access_reviews: goneCount of ${uid} is 1, but there are 0 items`,
      ]);
      assert.equal(await arrange(server, (tx) => reviewCounts.repair(tx)), 2);
      assert.deepEqual(await found(), []);
    });

    it("the due time is 1 hour to 180 days ahead, and numbers have limits", async () => {
      const at = (ms: number) => ({ dueTime: new Date(clock.read() + ms).toISOString() });
      for (const changes of [at(hour - minute), at(181 * day), { onDue: undefined }, { unusedDays: 5 }, { title: "" }])
        await denied("INVALID_ARGUMENT", owner, "POST", `reviews/${root}`, draft(changes));
      await denied("INVALID_ARGUMENT", owner, "POST", `reviews/${root}`, draft({ title: "a\nb" }));
      await create(at(179 * day));
      await create(at(hour + minute));
    });
  });
}
