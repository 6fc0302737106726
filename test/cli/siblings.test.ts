// The API allows siblings with equal names. No file and no command can tell them apart, so the command line asks before it makes one.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Caller, startCaller } from "./caller.ts";
import { noTerminal, runOnTerminal } from "./on-terminal.ts";

describe("siblings with one name", () => {
  let caller: Caller;
  let acme: string;
  before(async () => {
    caller = await startCaller();
    acme = (await caller.json("iam", "organizations", "create", "acme")).uid;
    await caller.json("iam", "groups", "create", "engineering", "--parent", acme);
  });
  after(() => caller[Symbol.asyncDispose]());

  const claims = ["--identity-issuer", "https://token.example.org", "--subject", "ci"];
  const kinds: readonly (readonly [kind: string, name: string, flags: readonly string[]])[] = [
    ["groups", "research", []],
    ["identities", "ci", claims],
    ["roles", "deployer", ["--capabilities", "groups.list"]],
    [
      "identity-providers",
      "sso",
      [
        "--oidc-issuer",
        "https://sso.example.org",
        "--oidc-client-id",
        "a",
        "--oidc-client-secret",
        "s",
        "--default-role",
        "viewer",
      ],
    ],
  ];
  for (const [kind, name, flags] of kinds)
    it(`${kind}: a second one is made only with --yes, and a rename is asked about, too`, async () => {
      const creating = ["iam", kind, "create", name, "--parent", acme, ...flags];
      const { uid } = await caller.json(...creating);
      const refused = await caller.run(...creating);
      assert.equal(refused.code, 2, refused.stderr);
      assert.ok(refused.stderr.includes(`${uid} is called "${name}"`), refused.stderr);
      assert.match(refused.stderr, /Say --yes/);
      const listed = async () =>
        (await caller.json("iam", kind, "list", "--parent", acme, "--name", name)).items.length;
      assert.equal(await listed(), 1);
      const other = await caller.json("iam", kind, "create", `${name}-2`, "--parent", acme, ...flags);
      const renaming = ["iam", kind, "update", other.uid, "--name", name];
      assert.equal((await caller.run(...renaming)).code, 2);
      await caller.json(...renaming, "--yes");
      await caller.json(...creating, "--yes");
      assert.equal(await listed(), 3);
    });

  it("a resource of another kind or group with the name needs no answer", async () => {
    await caller.json("iam", "identities", "create", "engineering", "--parent", acme, ...claims);
    await caller.json("iam", "identities", "create", "engineering", "--parent", "acme/engineering", ...claims);
    const { uid } = await caller.json("iam", "groups", "create", "unique", "--parent", acme);
    await caller.json("iam", "groups", "update", uid, "--name", "unique", "--description", "A");
  });

  it("an organization and the identity of a pull token are asked about, too", async () => {
    assert.equal((await caller.run("iam", "organizations", "create", "acme")).code, 2);
    const pulling = ["auth", "pull-token", "--parent", acme, "--name", "puller"];
    await caller.json(...pulling);
    assert.equal((await caller.run(...pulling)).code, 2);
    await caller.json(...pulling, "--yes");
  });

  it("asks on a terminal before creating a second one", { skip: noTerminal }, async () => {
    const creating = ["iam", "groups", "create", "engineering", "--parent", acme];
    const asked = (keys: string) => runOnTerminal(caller, creating, { dialog: { question: /\[y\/N\]/, keys } });
    const no = await asked("n\n");
    assert.deepEqual([no.code, /nothing was done/.test(no.shown)], [1, true]);
    assert.equal((await asked("y\n")).code, 0);
  });

  it("an export names each with path, uid and the command that renames it, exit code 1", async () => {
    const { uid } = await caller.json("iam", "organizations", "create", "beta");
    const newGroup = async (parent: string): Promise<string> =>
      (await caller.json("iam", "groups", "create", "a", "--parent", parent, "--yes")).uid;
    const [first, second] = [await newGroup(uid), await newGroup(uid)].sort() as [string, string];
    // These two have one path only because their parents have one.
    for (const parent of [first, second]) await newGroup(parent);
    const exported = await caller.run("export", "beta");
    assert.deepEqual([exported.code, exported.stdout], [1, ""]);
    const command = (each: string) => `group "a": gatehouse iam groups update ${each} --name NEW-NAME`;
    assert.deepEqual(exported.stderr.trimEnd().split("\n"), [
      "gatehouse: Precondition failed: 2 resources share their paths; rename all but one of each path",
      `  ${command(first)}`,
      `  ${command(second)}`,
    ]);
    await caller.json("iam", "groups", "update", second, "--name", "b");
    const { stdout } = await caller.run("export", "beta");
    assert.match(stdout, /name: b/);
  });
});
