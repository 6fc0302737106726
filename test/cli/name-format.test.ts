// `-o name`, and the paths of names that it prints: other commands accept each of them.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { nameLines } from "../../src/cli/output/name-lines.ts";
import { type Caller, startCaller } from "./caller.ts";

let caller: Caller;
/** The uid of the identity that shares its name with a sibling. */
let namesake: string;
const identityFlags = ["--yes", "--identity-issuer", "https://i.test", "--subject"];
const createIdentity = (name: string, parent: string, subject: string) =>
  caller.json("iam", "identities", "create", name, "--parent", parent, ...identityFlags, subject);

describe("names as output and as arguments", () => {
  before(async () => {
    caller = await startCaller();
    await caller.json("iam", "folders", "create", "team", "--parent", "example.org");
    await caller.json("iam", "folders", "create", "deep", "--parent", "example.org/team");
    await createIdentity("release", "example.org", "a");
    await createIdentity("release", "example.org/team", "b");
    await createIdentity("twin", "example.org/team", "c");
    namesake = (await createIdentity("twin", "example.org/team", "d")).uid;
    for (const parent of ["example.org", "example.org/team"]) {
      const { uid } = await caller.json("iam", "groups", "describe", parent);
      const repo = await post(`/registry/v2beta1/repos/${uid}`, { name: "hello" });
      const digest = `sha256:${"a".repeat(64)}`;
      await post(`/registry/v2beta1/tags/${repo.uid}`, { name: "1.0", digest });
    }
    await caller.json("iam", "roles", "create", "reader", "--parent", "example.org", "--capabilities", "groups.list");
    await caller.json("events", "subscriptions", "create", "https://hooks.example.com/a", "--parent", "example.org");
  });
  after(async () => {
    await caller[Symbol.asyncDispose]();
  });

  async function post(route: string, body: object) {
    const { code, stdout, stderr } = await caller.run("api", "POST", route, "-d", JSON.stringify(body));
    assert.equal(code, 0, stdout + stderr);
    return JSON.parse(stdout);
  }

  async function names(...args: readonly string[]): Promise<string[]> {
    const { code, stdout, stderr } = await caller.run(...args, "-o", "name");
    assert.equal(code, 0, stderr);
    return stdout.split("\n").slice(0, -1);
  }

  describe("-o name", () => {
    it("prints groups as paths", async () => {
      const printed = await names("iam", "groups", "list");
      for (const path of ["example.org", "example.org/team", "example.org/team/deep"])
        assert.ok(printed.includes(path));
    });

    it("prints identities of one name as different paths", async () => {
      const printed = await names("iam", "identities", "list", "--name", "release");
      assert.deepEqual(printed.toSorted(), ["example.org/release", "example.org/team/release"]);
    });

    it("prints the uids of siblings that share a name", async () => {
      const printed = await names("iam", "identities", "list", "--name", "twin");
      assert.equal(printed.length, 2);
      assert.ok(printed.includes(namesake), String(printed));
    });

    it("prints repos and tags with their groups", async () => {
      assert.deepEqual((await names("images", "repos", "list")).toSorted(), [
        "example.org/hello",
        "example.org/team/hello",
      ]);
      const tags = await names("images", "tags", "list");
      assert.deepEqual(tags.toSorted(), ["example.org/hello:1.0", "example.org/team/hello:1.0"]);
    });

    it("prints built-in roles by name and others as paths", async () => {
      const printed = await names("iam", "roles", "list");
      assert.ok(printed.includes("viewer") && printed.includes("example.org/reader"), String(printed));
    });

    it("prints the uid of what has no name", async () => {
      const printed = await names("iam", "role-bindings", "list");
      for (const line of printed) assert.match(line, /^[0-9a-f]{40}(\/[0-9a-f]{16})+$/);
    });

    it("prints the uid of a name with a space", async () => {
      const { uid } = await createIdentity("two words", "example.org/team", "g");
      assert.deepEqual(await names("iam", "identities", "describe", uid), [uid]);
    });

    for (const name of ["-rf", "$(id)", "it's", 'a"b', "a\nb", "a\\b", "*", "~", "\u202eabc", "a".repeat(40), ""])
      it(`prints the id instead of the name ${JSON.stringify(name)}`, () =>
        assert.equal(nameLines({ noun: "groups", columns: [] }, [{ name, uid: "u" }]), "u\n"));

    it("prints the name of one resource, and of a deleted one as it was given", async () => {
      assert.deepEqual(
        await names("iam", "identities", "create", "brief", "--parent", "example.org/team", ...identityFlags, "e"),
        ["example.org/team/brief"],
      );
      assert.deepEqual(await names("iam", "identities", "describe", "brief"), ["example.org/team/brief"]);
      assert.deepEqual(await names("iam", "identities", "delete", "example.org/team/brief", "--yes"), [
        "example.org/team/brief",
      ]);
    });

    it("prints identities that have access as paths", async () => {
      const printed = await names("iam", "access", "who-can", "example.org");
      assert.ok(
        printed.every((line) => /^(example\.org\/\S+|[0-9a-f/]+)$/.test(line)),
        String(printed),
      );
    });

    for (const kind of [
      "iam groups",
      "iam identities",
      "iam roles",
      "iam role-bindings",
      "images repos",
      "images tags",
      "events subscriptions",
    ])
      it(`describe accepts every name that ${kind} list prints`, async () => {
        const printed = await names(...kind.split(" "), "list");
        assert.ok(printed.length > 0);
        const uids = await caller.json(...kind.split(" "), "list");
        const found: string[] = [];
        for (const name of printed) found.push((await caller.json(...kind.split(" "), "describe", name)).uid);
        assert.deepEqual(found.toSorted(), uids.items.map(({ uid }: { uid: string }) => uid).toSorted());
      });
  });

  describe("a path of groups before a name", () => {
    it("names a repo for who-can and can-i", async () => {
      const { uid } = await caller.json("images", "repos", "describe", "example.org/team/hello");
      const byName = await caller.run("iam", "access", "who-can", "example.org/team/hello", "-o", "json");
      const byUid = await caller.run("iam", "access", "who-can", uid, "-o", "json");
      assert.equal(byName.code, 0, byName.stderr);
      assert.equal(byName.stdout, byUid.stdout);
      const canI = await caller.run("auth", "can-i", "repo.list", "--group", "example.org/team/hello");
      assert.ok(canI.stdout.startsWith(`yes: repo.list at ${uid}\n`), canI.stdout + canI.stderr);
    });

    it("a path that leads to nothing is reported as neither a group nor a repo", async () => {
      const { code, stderr } = await caller.run("iam", "access", "who-can", "example.org/team/nosuch");
      assert.equal(code, 1);
      assert.match(stderr, /there is no group or repo "example\.org\/team\/nosuch" that you can see/);
    });
  });
});
