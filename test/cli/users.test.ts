// `gatehouse iam users`: the people of an organization, and the removal of one.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { addGroup, addPerson, bind, ownerRole, viewerRole } from "../security/tree.ts";
import { type Caller, startCaller } from "./caller.ts";

describe("gatehouse iam users", () => {
  let caller: Caller;
  let folder: string;
  let ana: string;
  let guest: string;
  const namesakes: string[] = [];

  before(async () => {
    caller = await startCaller();
    const { server } = caller;
    folder = await addGroup(server, server.groupUid, "payments");
    for (const email of ["kim1@example.org", "kim2@example.org"]) {
      const uid = await addPerson(server, "kim berg", email, server.groupUid);
      await bind(server, server.groupUid, uid, viewerRole.uid);
      namesakes.push(uid);
    }
    guest = await addPerson(server, "guest", "guest@secret.example", undefined);
    await bind(server, folder, guest, viewerRole.uid);
  });
  after(() => caller[Symbol.asyncDispose]());
  let count = 0;
  let address: string;
  let team: string;
  beforeEach(async () => {
    const { server } = caller;
    address = `ana${count++}@example.org`;
    ana = await addPerson(server, `ana ${count}`, address, server.groupUid);
    team = await addGroup(server, folder, `team-${count}`);
    await bind(server, server.groupUid, ana, viewerRole.uid);
    await bind(server, team, ana, ownerRole.uid);
  });

  const users = (...args: string[]) => caller.run("iam", "users", ...args);
  const rolesOf = async () => (await caller.json("iam", "role-bindings", "list", "--identity", ana)).items.length;

  it("lists people with their roles, and who has not joined by uid only", async () => {
    const { items } = await caller.json("iam", "users", "list");
    const uids = items.map(({ uid }: { uid: string }) => uid);
    for (const uid of [ana, guest, ...namesakes]) assert.ok(uids.includes(uid), uid);
    const { stdout } = await users("list");
    assert.match(stdout, /^NAME +ADDRESS +UID +STATE +ROLES\n/);
    assert.match(stdout, new RegExp(`ana ${count} +${address} +${ana} +joined +.*owner at team-${count}`));
    assert.match(stdout, new RegExp(`${guest} +pending +viewer at payments`));
    assert.doesNotMatch(stdout, /secret/);
  });

  it("lists those of one group, and those with a text in their name", async () => {
    const inFolder = (await caller.json("iam", "users", "list", "--parent", "payments", "--name", address)).items;
    assert.deepEqual(
      inFolder.map(({ uid }: { uid: string }) => uid),
      [ana],
    );
    assert.match((await users("list", "--name", "kim", "-o", "id")).stdout, /^[0-9a-f]{40}\n[0-9a-f]{40}\n$/);
  });

  it("shows a person with all roles, by address, name and uid", async () => {
    for (const text of [address.toUpperCase(), `ana ${count}`, ana]) {
      const { stdout, stderr } = await users("describe", text);
      assert.match(stdout, /Roles:\n +ROLE +GROUP +ROLE BINDING\n/, stderr);
      assert.match(stdout, /owner +team-\d/);
    }
  });

  it("several people of one name are wrong usage with the candidates, and an unknown one names who is like it", async () => {
    const both = await users("describe", "kim berg");
    assert.equal(both.code, 2);
    for (const uid of namesakes) assert.match(both.stderr, new RegExp(uid));
    const none = await users("remove", "kim", "--yes");
    assert.equal(none.code, 1);
    assert.match(none.stderr, /no user with a role here is called "kim"[\s\S]*kim1@example\.org/);
  });

  it("a dry run shows what would be lost, and changes nothing", async () => {
    const { stdout, stderr } = await users("remove", address, "--dry-run");
    assert.match(stdout, /Role bindings: +2\n/, stderr);
    assert.match(stdout, new RegExp(`Groups without an owner: +${team}`));
    assert.match(stdout, /owner +team-\d/);
    assert.equal((await caller.json("iam", "users", "remove", ana, "--dry-run")).roleBindingCount, 2);
    assert.equal(await rolesOf(), 2);
  });

  it("asks before it removes a person, and removes without a question with --yes", async () => {
    const asked = await users("remove", address);
    assert.equal(asked.code, 2);
    assert.match(
      asked.stderr,
      /- 2 role bindings\n[\s\S]*owner at team-\d[\s\S]*Say --yes to go on without a question/,
    );
    assert.equal(await rolesOf(), 2);
    const { code, stderr } = await users("remove", address, "--yes", "--end-sessions");
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^Removed user ana \d+ \(ana.*\): 2 role bindings\.\n$/);
    assert.equal(await rolesOf(), 0);
    assert.equal((await users("remove", ana, "--yes")).code, 1);
  });
});
