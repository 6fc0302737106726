// The change log, as callers see it.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { builtInRoles } from "../../../src/authz/built-in-roles.ts";
import { parentOf } from "../../../src/model/uid.ts";
import { createOrganization } from "../../../src/services/iam/bootstrap.ts";
import { sweep } from "../../../src/storage/sweep.ts";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { context } from "../../storage/fixtures.ts";

after(stopPostgres);

const viewer = builtInRoles.find(({ name }) => name === "viewer")!.uid;

/** Lists, and fails unless it can. */
async function list({ url, ownerToken }: TestServer, query: Readonly<Record<string, string>>, token = ownerToken) {
  const { status, body } = await rest(url, token, "GET", `/gatehouse/changes/v1/changes?${new URLSearchParams(query)}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

/** Every page of a list. */
async function listAll(server: TestServer, query: Readonly<Record<string, string>>) {
  // biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON
  const changes: any[] = [];
  let pageToken = "";
  do {
    const page = await list(server, { ...query, ...(pageToken !== "" && { pageToken }) });
    changes.push(...page.changes);
    pageToken = page.nextPageToken ?? "";
  } while (pageToken !== "");
  return changes;
}

async function create(server: TestServer, path: string, body: unknown, token = server.ownerToken) {
  const reply = await rest(server.url, token, "POST", path, body);
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  return reply.body;
}

/** The fields of a change that the tests read. */
interface Seen {
  readonly kind: string;
  readonly groupUid: string;
  readonly actorUid: string;
  readonly actorClaims?: Readonly<Record<string, string>>;
  readonly after?: { readonly name?: string };
}

/** Creates an identity of a workload, and returns its uid. */
async function newIdentity(server: TestServer, name: string, parent: string): Promise<string> {
  const claimMatch = { issuer: "https://issuer.example.org", subject: name };
  return (await create(server, `/iam/v2beta1/identities/${parent}`, { name, claimMatch })).uid;
}

/** Removes changes that are older than a day. */
async function sweepOld({ server }: TestServer, now: number): Promise<void> {
  const never = Number.MAX_SAFE_INTEGER;
  const keeping = {
    changeMs: 86_400_000,
    registryEventMs: never,
    retiredKeyMs: never,
    nodeMs: never,
    countMs: never,
    usageMs: never,
    accessRecordMs: never,
    imageUseMs: 0,
    eventMs: never,
    accessMs: never,
    seenTokenMs: never,
  };
  await sweep(server.database, { ...context, time: now }, keeping, new AbortController().signal);
}

/** One of every kind of resource, from its creation to its end. */
async function live(server: TestServer): Promise<void> {
  const { url, ownerToken, groupUid } = server;
  const change = async (method: string, path: string, body?: unknown) => {
    const reply = await rest(url, ownerToken, method, path, body);
    assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`);
  };
  const identity = await create(server, `/iam/v2beta1/identities/${groupUid}`, {
    name: "ci",
    claimMatch: { issuer: "https://issuer.example.org", subject: "ci" },
  });
  const role = await create(server, `/iam/v2beta1/roles/${groupUid}`, {
    name: "reader",
    capabilities: ["CAP_IAM_GROUPS_LIST"],
  });
  const bound = { identityUid: identity.uid, roleUid: viewer };
  const binding = await create(server, `/iam/v2beta1/roleBindings/${groupUid}`, bound);
  const invite = await create(server, `/iam/v2beta1/groupInvites/${groupUid}`, { roleUid: viewer, ttl: "3600s" });
  assert.ok(invite.code);
  const association = await create(server, `/iam/v2beta1/accountAssociations/${groupUid}`, {
    name: "aws",
    amazon: { account: "123456789012" },
  });
  const provider = await create(server, `/iam/v2beta1/identityProviders/${groupUid}`, {
    name: "sso",
    oidc: {
      issuer: "https://sso.example.org",
      clientId: "gatehouse",
      clientSecret: "the-secret-of-the-client",
      additionalScopes: [],
    },
    defaultRole: viewer,
  });
  const repo = await create(server, `/registry/v2beta1/repos/${groupUid}`, { name: "app" });
  await change("PATCH", `/registry/v2beta1/repos/${repo.uid}`, { description: "an app" });
  const tag = await create(server, `/registry/v2beta1/tags/${repo.uid}`, {
    name: "latest",
    digest: `sha256:${"0".repeat(64)}`,
  });
  const subscription = await create(server, `/events/v2beta1/subscriptions/${groupUid}`, {
    sink: "https://localhost/",
  });
  await change("DELETE", `/events/v2beta1/subscriptions/${subscription.uid}`);
  await change("DELETE", `/registry/v2beta1/tags/${tag.uid}`);
  await change("DELETE", `/registry/v2beta1/repos/${repo.uid}`);
  await change("DELETE", `/iam/v2beta1/identityProviders/${provider.uid}`);
  await change("DELETE", `/iam/v2beta1/accountAssociations/${association.uid}`);
  await change("DELETE", `/iam/v2beta1/groupInvites/${invite.uid}`);
  await change("DELETE", `/iam/v2beta1/roleBindings/${binding.uid}`);
  await change("DELETE", `/iam/v2beta1/roles/${role.uid}`);
  await change("DELETE", `/iam/v2beta1/identities/${identity.uid}`);
}

for (const database of databases) {
  describe(`the list of changes (${database})`, () => {
    it("shows actor, change, rows before and after, and no secret", async () => {
      await using server = await startTestServer({ database });
      const { groupUid, ownerUid } = server;
      const { resumeAfter: after } = await list(server, { parent: groupUid, pageSize: "1" });
      await live(server);
      const changes = await listAll(server, { parent: groupUid, after, pageSize: "7" });
      const lives = Map.groupBy(changes, ({ kind, resourceUid }) => `${kind} ${resourceUid}`);
      const kinds = [...new Set(changes.map(({ kind }) => kind))].sort();
      assert.deepEqual(kinds, [
        "account_associations",
        "group_invites",
        "identities",
        "identity_providers",
        "repos",
        "role_bindings",
        "roles",
        "subscriptions",
        "tags",
      ]);
      for (const [about, life] of lives) {
        const [first, last] = [life[0], life.at(-1)];
        assert.equal(first.before, undefined, about);
        assert.ok(first.after, about);
        assert.equal(last.after, undefined, about);
        assert.deepEqual(last.before, life.at(-2).after, about);
      }
      for (const change of changes) {
        assert.equal(change.actorUid, ownerUid);
        assert.equal(change.actorClaims.iss, "https://issuer.example.org");
        assert.match(change.method, /^\/chainguard\.platform\.\w+\.v2beta1\.\w+\/\w+$/);
        assert.match(change.requestId, /^[0-9a-f]{32}$/);
        assert.equal(change.groupUid, change.kind === "tags" ? parentOf(change.resourceUid) : groupUid);
      }
      const updated = changes.find(({ method }) => method.endsWith("/UpdateRepo"));
      assert.deepEqual([updated.before.description, updated.after.description], [undefined, "an app"]);
      const text = JSON.stringify(changes);
      assert.doesNotMatch(text, /the-secret-of-the-client|codeDigest|keyId/);

      const latest = await listAll(server, { parent: groupUid, pageSize: "7" });
      assert.deepEqual(latest.slice(0, changes.length), changes.toReversed());
      assert.ok(latest.length > changes.length, "what was changed before");
    });

    it("the list can be continued, from page to page and from one list to the next", async () => {
      await using server = await startTestServer({ database });
      const { groupUid } = server;
      let { resumeAfter: after } = await list(server, { parent: groupUid, pageSize: "1" });
      const seen: string[] = [];
      const made: string[] = [];
      for (let round = 0; round < 3; round++) {
        for (let i = 0; i < 3; i++)
          made.push((await create(server, `/iam/v2beta1/groups/${groupUid}`, { name: `g-${round}-${i}` })).uid);
        for (let pageToken = "more"; pageToken !== ""; ) {
          const page = await list(server, { parent: groupUid, after, pageSize: "2" });
          seen.push(...page.changes.map(({ resourceUid }: { resourceUid: string }) => resourceUid));
          pageToken = page.nextPageToken ?? "";
          after = page.resumeAfter;
        }
      }
      assert.deepEqual(seen, made);
      const { changes, resumeAfter } = await list(server, { parent: groupUid, after });
      assert.deepEqual(changes, []);
      assert.notEqual(resumeAfter, after);
      assert.deepEqual((await list(server, { parent: groupUid, after: resumeAfter })).changes, []);
    });

    it("fails if the change to follow was deleted by retention", async () => {
      let now = Date.now();
      await using server = await startTestServer({ database, clock: () => now });
      const { groupUid, url } = server;
      const { resumeAfter: after } = await list(server, { parent: groupUid });
      await create(server, `/iam/v2beta1/groups/${groupUid}`, { name: "later" });
      now += 10 * 86_400_000;
      const token = await server.tokenOf(server.ownerUid);
      await create(server, `/iam/v2beta1/groups/${groupUid}`, { name: "latest" }, token);
      await sweepOld(server, now);
      const refused = await rest(url, token, "GET", `/gatehouse/changes/v1/changes?parent=${groupUid}&after=${after}`);
      assert.equal(refused.status, 400);
      assert.match(JSON.stringify(refused.body), /CHANGE_NOT_KEPT/);
      // A caller who listed meanwhile continues with all later changes, although retention has deleted earlier ones.
      const { resumeAfter } = await list(server, { parent: groupUid, pageSize: "1" }, token);
      await create(server, `/iam/v2beta1/groups/${groupUid}`, { name: "last" }, token);
      const followed = await list(server, { parent: groupUid, after: resumeAfter }, token);
      assert.equal(followed.changes.length, 1);
      const { changes } = await list(server, { parent: groupUid, kind: "groups", after: resumeAfter }, token);
      assert.deepEqual(
        changes.map((change: { after: { name: string } }) => change.after.name),
        ["last"],
      );
    });

    it("can be followed while only others change something and retention deletes the log", async () => {
      let now = Date.now();
      await using server = await startTestServer({ database, clock: () => now });
      const { groupUid } = server;
      const other = await server.server.database.write(context, (tx) =>
        createOrganization(tx, "other.example", { issuer: "https://issuer.example.org", subject: "other" }),
      );
      let { resumeAfter: after } = await list(server, { parent: groupUid });
      for (let day = 0; day < 3; day++) {
        now += 2 * 86_400_000;
        const token = await server.tokenOf(server.ownerUid);
        const theirs = await server.tokenOf(other.ownerUid);
        for (let i = 0; i < 3; i++)
          await create(server, `/iam/v2beta1/groups/${other.groupUid}`, { name: `g-${day}-${i}` }, theirs);
        ({ resumeAfter: after } = await list(server, { parent: groupUid, after }, token));
        await sweepOld(server, now);
        const { changes } = await list(server, { parent: groupUid, after }, token);
        assert.deepEqual(changes, []);
      }
    });

    it("does not follow another change with the same sequence number", async () => {
      await using server = await startTestServer({ database });
      const { groupUid } = server;
      const { changes } = await list(server, { parent: groupUid, pageSize: "1" });
      // As a backup that was put back would have it, once something else was changed.
      await server.server.database.write(context, async (tx) => {
        const statement = tx.prepared("test.shift", (db, tables) => db.update(tables.changes).set({ time: 7 }));
        await (statement as unknown as { execute(): Promise<unknown> }).execute();
      });
      const path = `/gatehouse/changes/v1/changes?parent=${groupUid}&after=${changes[0].id}`;
      assert.equal((await rest(server.url, server.ownerToken, "GET", path)).status, 400);
    });
  });
}

describe("the list of changes", () => {
  it("shows other callers the kinds that they may list, where they may list them", async () => {
    await using server = await startTestServer();
    const { url, groupUid } = server;
    const team = await create(server, `/iam/v2beta1/groups/${groupUid}`, { name: "team" });
    const secret = await create(server, `/iam/v2beta1/groups/${groupUid}`, { name: "secret" });
    const identities = await Promise.all(
      ["of-team", "of-roles", "of-nothing"].map((name) => newIdentity(server, name, groupUid)),
    );
    const [ofTeam, ofRoles, ofNothing] = identities as [string, string, string];
    const rolesOnly = await create(server, `/iam/v2beta1/roles/${groupUid}`, {
      name: "role-reader",
      capabilities: ["CAP_IAM_ROLES_LIST"],
    });
    const bind = (parent: string, identityUid: string, roleUid: string) =>
      create(server, `/iam/v2beta1/roleBindings/${parent}`, { identityUid, roleUid });
    await bind(team.uid, ofTeam, viewer);
    await bind(groupUid, ofRoles, rolesOnly.uid);
    await create(server, `/iam/v2beta1/groups/${secret.uid}`, { name: "hidden" });
    await create(server, `/iam/v2beta1/groups/${team.uid}`, { name: "shown" });

    const seenBy = async (uid: string, parent = groupUid) =>
      (await list(server, { parent, pageSize: "200" }, await server.tokenOf(uid))).changes as Seen[];
    const ofViewer = await seenBy(ofTeam);
    assert.ok(ofViewer.some(({ after }) => after?.name === "shown"));
    for (const { groupUid: place } of ofViewer) assert.ok(place.startsWith(team.uid), place);
    assert.ok(ofViewer.every(({ actorClaims }) => actorClaims?.iss === "https://issuer.example.org"));
    assert.deepEqual(await seenBy(ofTeam, team.uid), ofViewer);

    const ofReader = await seenBy(ofRoles);
    assert.deepEqual([...new Set(ofReader.map(({ kind }) => kind))], ["roles"]);
    assert.ok(ofReader.every(({ actorUid, actorClaims }) => actorUid !== "" && !actorClaims?.iss));

    const path = `/gatehouse/changes/v1/changes?parent=`;
    for (const [uid, parent] of [
      [ofNothing, groupUid],
      [ofTeam, secret.uid],
      [ofTeam, `${groupUid}/0123456789abcdef`],
    ] as const)
      assert.equal((await rest(url, await server.tokenOf(uid), "GET", path + parent)).status, 403);
    // Decided for each call: what is taken away counts at once.
    const { roleBindings } = (await rest(url, server.ownerToken, "GET", `/iam/v2beta1/roleBindings?identity=${ofTeam}`))
      .body;
    await rest(url, server.ownerToken, "DELETE", `/iam/v2beta1/roleBindings/${roleBindings[0].uid}`);
    assert.equal((await rest(url, await server.tokenOf(ofTeam), "GET", path + team.uid)).status, 403);
  });

  it("shows sign-ins, exchanges and denials to callers who may subscribe only", async () => {
    await using server = await startTestServer();
    const { url, groupUid } = server;
    const uid = await newIdentity(server, "looker", groupUid);
    await create(server, `/iam/v2beta1/roleBindings/${groupUid}`, { identityUid: uid, roleUid: viewer });
    const token = await server.tokenOf(uid);
    assert.equal((await rest(url, token, "POST", `/iam/v2beta1/groups/${groupUid}`, { name: "denied" })).status, 403);
    let denials: Seen[] = [];
    while (denials.length === 0) denials = (await listAll(server, { parent: groupUid, kind: "denials" })) as Seen[];
    const { changes } = await list(server, { parent: groupUid, pageSize: "200" }, token);
    assert.ok(changes.length > 0);
    assert.ok(!changes.some(({ kind }: Seen) => kind === "denials"));
  });

  it("reveals neither other organizations nor the number of their changes", async () => {
    await using server = await startTestServer();
    const { url, server: running } = server;
    const other = await running.database.write(context, (tx) =>
      createOrganization(tx, "other.example", { issuer: "https://issuer.example.org", subject: "other" }),
    );
    const token = await server.tokenOf(other.ownerUid);
    await create(server, `/iam/v2beta1/groups/${server.groupUid}`, { name: "ours" });
    const path = `/gatehouse/changes/v1/changes?parent=${server.groupUid}`;
    const mine = await list(server, { parent: server.groupUid, pageSize: "1" });
    const theirs = await list(server, { parent: other.groupUid }, token);
    assert.ok(theirs.changes.length > 0);
    assert.ok(!JSON.stringify(theirs).includes(server.groupUid));
    // Only now: within a second, the denial is in the log of the caller, with the uid that they asked for.
    assert.equal((await rest(url, token, "GET", path)).status, 403);
    // An id of another caller's page reveals nothing, not even whether it is older or newer.
    for (const [after, problem] of [
      [mine.changes[0].id, /CHANGE_NOT_KEPT/],
      [mine.resumeAfter, /is neither the id of a change nor/],
    ]) {
      const followed = `/gatehouse/changes/v1/changes?parent=${other.groupUid}&after=${after}`;
      const { status, body } = await rest(url, token, "GET", followed);
      assert.equal(status, 400);
      assert.match(JSON.stringify(body), problem);
    }
    // Nor does the same name twice: whether anybody changed anything meanwhile.
    const again = await list(server, { parent: server.groupUid, pageSize: "1" });
    assert.notEqual(again.resumeAfter, mine.resumeAfter);
    // A page token belongs to its caller.
    const page = `${path}&pageSize=1&pageToken=${mine.nextPageToken}`.replace(server.groupUid, other.groupUid);
    assert.equal((await rest(url, token, "GET", page)).status, 400);
  });

  it("shows entries of earlier versions as far as possible", async () => {
    await using server = await startTestServer();
    const { groupUid } = server;
    await server.server.database.write(context, async (tx) => {
      tx.logChange({ kind: "roles", uid: `${groupUid}/0123456789abcdef`, groupUid, before: null, after: { uid: 1 } });
      tx.logChange({ kind: "things", uid: `${groupUid}/0123456789abcdef`, groupUid, before: null, after: { a: 1 } });
    });
    const { changes } = await list(server, { parent: groupUid, pageSize: "2" });
    assert.deepEqual(
      changes.map(({ kind, after }: { kind: string; after: unknown }) => [kind, after]),
      [
        ["things", {}],
        ["roles", {}],
      ],
    );
  });
});
