// `gatehouse search`, and roles for people who are named by their address.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { untilNamesAreIndexed } from "../harness/indexed-names.ts";
import { addGroup, addIdentity, addPerson } from "../security/tree.ts";
import { type Caller, startCaller } from "./caller.ts";

describe("gatehouse search", () => {
  let caller: Caller;
  let ana: string;
  const namesakes: string[] = [];

  before(async () => {
    caller = await startCaller();
    const { server } = caller;
    const folder = await addGroup(server, server.groupUid, "payments");
    await addIdentity(server, folder, { name: "nightly deployer" });
    ana = await addPerson(server, "ana lopez", "ana@example.org", server.groupUid);
    for (const email of ["kim1@example.org", "kim2@example.org"])
      namesakes.push(await addPerson(server, "kim berg", email, server.groupUid));
    await addPerson(server, "guest", "guest@example.org", undefined);
    await untilNamesAreIndexed(server);
  });
  after(() => caller[Symbol.asyncDispose]());

  it("prints kind, name, address or path, and uid of what it finds", async () => {
    const { stdout, code } = await caller.run("search", "deployer");
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^KIND +NAME +ADDRESS OR PATH +UID\nidentity +nightly deployer +example\.org\/payments +[0-9a-f/]+\n$/,
    );
    const { stdout: people } = await caller.run("search", "lopez", "ana", "--no-headers");
    assert.equal(people.replaceAll(/ +/g, " "), `person ana lopez ana@example.org ${ana}\n`);
  });

  it("prints JSON, YAML and names, and searches one kind", async () => {
    const [found] = (await caller.json("search", "ana")).items;
    assert.deepEqual([found.kind, found.uid, found.email], ["person", ana, "ana@example.org"]);
    assert.match((await caller.run("search", "ana", "-o", "yaml")).stdout, /^ *-? *kind: person$/m);
    assert.equal((await caller.run("search", "paym", "-o", "name")).stdout, "payments\n");
    assert.deepEqual((await caller.json("search", "ana", "--kind", "group")).items, []);
  });

  const grant = (identity: string, ...more: string[]) =>
    caller.run("iam", "role-bindings", "create", "--parent", "example.org", "--identity", identity, ...more);

  it("a role binding can be created for a person by address, by name and by uid", async () => {
    const given: [string, string][] = [
      ["Ana@Example.org", "viewer"],
      ["ana lopez", "editor"],
      [ana, "owner"],
    ];
    for (const [identity, role] of given) {
      const { code, stderr } = await grant(identity, "--role", role);
      assert.equal(code, 0, stderr);
    }
    const { items } = await caller.json("iam", "role-bindings", "list", "--identity", ana);
    assert.deepEqual(items.map(({ role }: { role: { name: string } }) => role.name).sort(), [
      "editor",
      "owner",
      "viewer",
    ]);
  });

  it("gives a role to a workload by name as before", async () => {
    assert.equal((await grant("nightly deployer", "--role", "viewer")).code, 0);
  });

  it("an ambiguous name is wrong usage, with the candidates", async () => {
    const { code, stderr } = await grant("kim berg", "--role", "viewer");
    assert.equal(code, 2);
    assert.match(stderr, /^gatehouse: several people are called "kim berg"/);
    for (const [i, uid] of namesakes.entries()) assert.ok(stderr.includes(`kim berg  kim${i + 1}@example.org  ${uid}`));
  });

  it("a part of a name or address gives nobody a role", async () => {
    for (const part of ["lopez", "ana@example"]) {
      const { code, stderr } = await grant(part, "--role", "viewer");
      assert.equal(code, 2);
      assert.match(
        stderr,
        new RegExp(`^gatehouse: no identity is called "${part}".*\n  ana lopez  ana@example.org  ${ana}`),
      );
    }
  });

  it("an address of nobody who has joined is an error", async () => {
    for (const address of ["guest@example.org", "none@example.org"]) {
      const { code, stderr } = await grant(address, "--role", "viewer");
      assert.equal(code, 1);
      assert.match(stderr, /^gatehouse: no person with the address ".*" has joined the organization\n {2}Invite/);
    }
    const { code, stderr } = await grant("unheard-of", "--role", "viewer");
    assert.equal(code, 1);
    assert.match(stderr, /^gatehouse: there is no identity "unheard-of" that you can see/);
  });
});
