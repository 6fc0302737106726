// `gatehouse iam organizations export` and `import`, from a server on SQLite to one on PostgreSQL.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { noTerm } from "../../src/model/grants.ts";
import { newChild } from "../../src/model/uid.ts";
import { insertSampleAccess } from "../../src/server/development/samples/access.ts";
import { insertSampleRepos } from "../../src/server/development/samples/repos.ts";
import { insertSampleSignIn } from "../../src/server/development/samples/sign-in.ts";
import { insertSampleSubscription } from "../../src/server/development/samples/subscription.ts";
import { preRegisterUser } from "../../src/services/auth/users.ts";
import { createGroup } from "../../src/services/iam/bootstrap.ts";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { collections } from "../../src/services/resources.ts";
import { checkDatabase } from "../../src/storage/check/check-database.ts";
import { insertRow } from "../../src/storage/collection/rows.ts";
import { readCounters } from "../../src/storage/engine/counters.ts";
import { readSettings } from "../../src/storage/events/subscription-settings.ts";
import { roleBindingCollection } from "../../src/storage/iam/collections.ts";
import { findGrants } from "../../src/storage/iam/grants.ts";
import { findRepoByName, writeReadme } from "../../src/storage/registry/repos-and-tags.ts";
import { rest } from "../harness/rest.ts";
import type { TestServer } from "../harness/server.ts";
import { addOwner, createProvider, enableScim } from "../scim/provisioning.ts";
import { addGroup, addIdentity, addRole, arrange, viewerRole } from "../security/tree.ts";
import { type Caller, startCaller } from "./caller.ts";

const userSchema = "urn:ietf:params:scim:schemas:core:2.0:User";

type Change = { readonly actorUid: string; readonly after: { readonly content: string } };

describe("gatehouse iam organizations export and import", () => {
  let source: Caller;
  let target: Caller;
  let file: string;
  before(async () => {
    [source, target] = await Promise.all([startCaller(), startCaller({ database: "postgres" })]);
    await populate(source);
    file = path.join(source.home, "example.org.ndjson");
    const { code, stderr } = await source.run("iam", "organizations", "export", "example.org", file);
    assert.equal(code, 0, stderr);
  });
  after(async () => {
    await source[Symbol.asyncDispose]();
    await target[Symbol.asyncDispose]();
  });
  const importFile = (name: string, ...flags: string[]) => target.run("iam", "organizations", "import", name, ...flags);

  it("brings everything to another database, where an export equals the first", async () => {
    const dry = await importFile(file, "--dry-run");
    assert.equal(dry.code, 0, dry.stdout + dry.stderr);
    assert.match(dry.stdout, /^\+ line 2: group example\.org/m);
    assert.match(dry.stdout, /^would be rejected: nothing$/m);
    const done = await importFile(file);
    assert.equal(done.code, 0, done.stdout + done.stderr);
    assert.equal(done.stdout.replaceAll(/^would be /gm, ""), dry.stdout.replaceAll(/^(would be |\+.*\n)/gm, ""));
    const unasked = await importFile(file);
    assert.equal(unasked.code, 1);
    assert.match(unasked.stderr, /exists here already[\s\S]*add --existing/);
    const again = await importFile(file, "--existing");
    assert.equal(again.code, 0, again.stderr);
    assert.match(again.stdout, /^created: nothing\nupdated: nothing\n/m);
    const copy = path.join(target.home, "copy.ndjson");
    const owner = { GATEHOUSE_TOKEN: await target.server.tokenOf(source.server.ownerUid) };
    const exported = await target.runWith(owner, "iam", "organizations", "export", source.server.groupUid, copy);
    assert.equal(exported.code, 0, exported.stderr);
    assert.deepEqual(linesOf(copy).slice(1), linesOf(file).slice(1));
  });

  it("keeps entries, counters and the audit log right", async () => {
    const { database } = target.server.server;
    const { findings } = await database.read((session) => checkDatabase(session, collections));
    assert.deepEqual(findings, []);
    const [before, now] = await Promise.all(
      [source.server.server.database, database].map(({ session }) => readCounters(session, source.server.groupUid)),
    );
    // The invite and the role binding of the operator stay behind.
    for (const kind of ["groups", "identities", "roles", "tags", "subscriptions"])
      assert.equal(now!.get(kind), before!.get(kind), kind);
    assert.equal(now!.get("role_bindings"), before!.get("role_bindings")! - 1);
    const owner = { GATEHOUSE_TOKEN: await target.server.tokenOf(source.server.ownerUid) };
    const place = ["--parent", source.server.groupUid, "--kind", "repo_readmes", "-o", "json"];
    const { items } = JSON.parse((await target.runWith(owner, "changes", "list", ...place)).stdout);
    assert.deepEqual(
      items.map(({ actorUid, after }: Change) => [actorUid, after.content]),
      [[target.server.ownerUid, "# nginx\n"]],
    );
  });

  it("keeps whether a subscription is paused, its kinds and its description, and a file with others updates them", async () => {
    const line = linesOf(file).filter((text) => text.startsWith('{"subscriptionSettings"'));
    assert.equal(line.length, 1, "a subscription without settings has no line");
    const { uid } = JSON.parse(line[0]!).subscriptionSettings;
    const { session } = target.server.server.database;
    const stored = async () => {
      const { isPaused: paused, kinds, description } = await readSettings(session, uid);
      return { paused, kinds, description };
    };
    assert.deepEqual(await stored(), settings);
    const changed = path.join(source.home, "other-settings.ndjson");
    writeFileSync(changed, readFileSync(file, "utf8").replace(settings.description, "moved"));
    const dry = await importFile(changed, "--existing", "--dry-run");
    assert.match(dry.stdout, /description: "until the sink is moved" → "moved"|until the sink is moved[\s\S]*moved/);
    assert.deepEqual(await stored(), settings);
    assert.equal((await importFile(changed, "--existing")).code, 0);
    assert.deepEqual(await stored(), { ...settings, description: "moved" });
    assert.equal((await importFile(file, "--existing")).code, 0);
    const unknown = path.join(source.home, "unknown-kind.ndjson");
    writeFileSync(unknown, readFileSync(file, "utf8").replace('"roles"]', '"nothing"]'));
    const { code, stdout, stderr } = await importFile(unknown, "--existing");
    assert.equal(code, 1, stdout);
    assert.match(stdout + stderr, /kinds[\s\S]*must be one of/);
  });

  it("keeps the role bindings of deactivated people, without effect until they are provisioned again", async () => {
    const { server } = target;
    const { session } = server.server.database;
    const rolesOf = async () => (await findGrants(session, leaverUid))?.roles.map(({ role }) => role.groupUid);
    assert.deepEqual(await rolesOf(), []);
    const line = linesOf(file).find((text) => text.includes('"suspendedPeople"'))!;
    const { uid, identityUids } = JSON.parse(line).suspendedPeople;
    assert.deepEqual(identityUids, [leaverUid]);
    const owner = { ...server, ownerToken: await server.tokenOf(source.server.ownerUid) };
    const scim = await enableScim(owner, uid);
    const person = { schemas: [userSchema], userName: "leaver", externalId: leaver.subject, active: true };
    assert.equal((await scim.send("POST", "/Users", person)).status, 201);
    assert.deepEqual(await rolesOf(), [source.server.groupUid]);
  });

  it("stops before role bindings if it cannot suspend deactivated people", async () => {
    const changed = path.join(source.home, "not-suspended.ndjson");
    writeFileSync(changed, readFileSync(file, "utf8").replace(`["${leaverUid}"]`, `["${source.server.groupUid}/0"]`));
    const { code, stdout, stderr } = await importFile(changed, "--existing");
    assert.equal(code, 1, stdout);
    assert.match(stderr, /line \d+: people who are deactivated: identity_uids\[0\]: must /);
    assert.doesNotMatch(stdout, /^unchanged: .*role binding/m);
  });

  it("leaves what the organization has besides the file", async () => {
    const added = await addGroup(target.server, source.server.groupUid, "added here");
    const { code, stdout } = await importFile(file, "--existing");
    assert.equal(code, 0);
    assert.match(stdout, /^created: nothing\nupdated: nothing\n/m);
    const owner = { GATEHOUSE_TOKEN: await target.server.tokenOf(source.server.ownerUid) };
    assert.match((await target.runWith(owner, "iam", "groups", "describe", added)).stdout, /added here/);
  });

  it("says what differs", async () => {
    const changed = path.join(source.home, "changed.ndjson");
    writeFileSync(changed, readFileSync(file, "utf8").replace('"name":"group 7"', '"name":"renamed"'));
    const { code, stdout } = await importFile(changed, "--dry-run");
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^~ line \d+: group renamed \(.*\); name: "group 7" → "renamed"$/m);
  });

  const damaged: readonly (readonly [string, (lines: string[]) => string[], RegExp])[] = [
    ["a truncated file", (lines) => lines.slice(0, -1), /has no end line: it is truncated/],
    ["a truncated line", (lines) => [...lines.slice(0, 4), lines[4]!.slice(0, 20)], /line 5: is not JSON/],
    ["a missing line", (lines) => lines.toSpliced(3, 1), /line \d+: end\.counts\.group: is \d+, but the file has \d+/],
    [
      "an unknown version",
      (lines) => ['{"gatehouseOrganization":99}', ...lines.slice(1)],
      /line 1: gatehouseOrganization: format version 99 is unknown; known: 1/,
    ],
    [
      "a line after the end line",
      (lines) => [...lines, lines[2]!.replaceAll(/"name":"[^"]*"/g, '"name":"appended"')],
      /line \d+: comes after the end line/,
    ],
    ["another file", (lines) => lines.slice(1), /line 1: gatehouseOrganization: is required/],
    ["an unknown field", (lines) => lines.with(2, '{"group":{"colour":"red"}}'), /line 3: .*colour/],
    [
      "a uid of another organization",
      (lines) => lines.with(2, `{"group":{"uid":"${"f".repeat(40)}/0000000000000001","name":"x"}}`),
      /line 3: group\.uid: must be a uid below that of the organization/,
    ],
  ];
  for (const [what, damage, expected] of damaged) {
    it(`rejects ${what}, and imports nothing of it`, async () => {
      const bad = path.join(source.home, "bad.ndjson");
      writeFileSync(bad, `${damage(linesOf(file)).join("\n")}\n`);
      const { code, stdout, stderr } = await importFile(bad, "--existing");
      assert.equal(code, 1);
      assert.equal(stdout, "");
      assert.match(stderr, expected);
    });
  }

  it("is for operators only", async () => {
    const viewer = await addIdentity(target.server, target.server.groupUid);
    const token = { GATEHOUSE_TOKEN: await target.server.tokenOf(viewer) };
    const { code, stderr } = await target.runWith(token, "iam", "organizations", "import", file);
    assert.equal(code, 1);
    assert.match(stderr, /internal/);
  });

  it("does not export an organization that the caller sees in part", async () => {
    const group = await addGroup(source.server, source.server.groupUid, "part");
    const viewer = await addIdentity(source.server, source.server.groupUid);
    await arrange(source.server, (tx) =>
      insertRow(tx, roleBindingCollection, {
        uid: newChild(group),
        ...noTerm,
        parent: group,
        identityUid: viewer,
        roleUid: viewerRole.uid,
        createTime: source.server.clock(),
      }),
    );
    const token = { GATEHOUSE_TOKEN: await source.server.tokenOf(viewer) };
    const { code, stderr } = await source.runWith(token, "iam", "organizations", "export", source.server.groupUid);
    assert.equal(code, 1);
    assert.match(stderr, /the export would be incomplete: you lack groups\.list/);
  });
});

/** Inserts some of everything, and more groups than a request of an import has. */
const sso = "https://sso.acme.test";
const leaver = { issuer: sso, subject: "leaver" };
const leaverUid = userUid(leaver.issuer, leaver.subject);

/** Provisions a person with a role, and deactivates them. */
async function deactivate(server: TestServer): Promise<void> {
  await arrange(server, (tx) => preRegisterUser(tx, leaver, server.groupUid, [viewerRole.uid]));
  await addOwner(server);
  const scim = await enableScim(server, await createProvider(server, { issuer: sso }));
  const person = { schemas: [userSchema], userName: "leaver", externalId: leaver.subject, active: false };
  assert.equal((await scim.send("POST", "/Users", person)).status, 201);
}

async function populate({ server }: Caller): Promise<void> {
  const { groupUid, ownerUid } = server;
  const role = await addRole(server, groupUid, [viewerRole.capabilities[0]!]);
  await arrange(server, async (tx) => {
    await insertSampleAccess(tx, groupUid);
    await insertSampleSignIn(tx, { groupUid, ownerUid });
    await insertSampleSubscription(tx, groupUid);
    await insertSampleRepos(tx, groupUid);
    const repo = (await findRepoByName(tx, groupUid, "nginx"))!;
    await writeReadme(tx, repo.uid, "# nginx\n");
    await preRegisterUser(tx, { issuer: "https://login.example.org", subject: "alice" }, groupUid, [role]);
    let parent = groupUid;
    for (let i = 0; i < 510; i++) {
      parent = (await createGroup(tx, i % 4 === 0 ? groupUid : parent, `group ${i}`, "")).uid;
    }
  });
  await deactivate(server);
  await pauseSubscription(server);
}

const settings = { paused: true, kinds: ["groups", "roles"], description: "until the sink is moved" };

/** Creates a second subscription, and changes its settings. */
async function pauseSubscription(server: TestServer): Promise<void> {
  const call = async (method: string, path: string, body: object) => {
    const response = await rest(server.url, server.ownerToken, method, path, body);
    assert.equal(response.status, 200, JSON.stringify(response.body));
    return response.body;
  };
  const sink = "https://paused.example.org/gatehouse";
  const { uid } = await call("POST", `/events/v2beta1/subscriptions/${server.groupUid}`, { sink });
  await call("PATCH", `/gatehouse/events/v1/subscriptionSettings/${uid}`, { sink, ...settings });
}

function linesOf(file: string): string[] {
  return readFileSync(file, "utf8").trimEnd().split("\n");
}
