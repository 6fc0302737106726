// `describe` shows a thing with what belongs to it.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { parse as parseYaml } from "yaml";
import { generateAdvisories } from "../../src/server/development/samples/advisories.ts";
import { insertSampleRepos } from "../../src/server/development/samples/repos.ts";
import { insertAdvisory } from "../../src/services/vulnerabilities/advisories/insert-advisory.ts";
import { type Caller, startCaller } from "./caller.ts";

let caller: Caller;

/** Runs a command that must succeed. */
async function done(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await caller.run(...args);
  assert.equal(code, 0, stderr);
  return stdout;
}

describe("commands on one resource", () => {
  before(async () => {
    caller = await startCaller();
    const { server, groupUid } = caller.server;
    await server.database.write({ actor: "", method: "test", requestId: "", time: Date.now() }, async (tx) => {
      await insertSampleRepos(tx, groupUid);
      for (const advisory of generateAdvisories("cli", 1)) await insertAdvisory(tx, groupUid, advisory);
    });
    await done("iam", "groups", "create", "engineering", "--parent", "example.org");
    await done("iam", "groups", "create", "platform", "--parent", "example.org/engineering");
    await done("iam", "groups", "create", "security", "--parent", "example.org");
    const service = ["--service-principal", "INGESTER"];
    await done(
      "iam",
      "identities",
      "create",
      "robot",
      "--parent",
      "example.org/engineering",
      "--role",
      "viewer",
      ...service,
    );
    for (const group of ["example.org", "example.org/engineering/platform", "example.org/security"])
      await done("iam", "role-bindings", "create", "--parent", group, "--identity", "robot", "--role", "editor");
    const provider = [
      "--oidc-issuer",
      "https://sso.acme.test",
      "--oidc-client-id",
      "gatehouse",
      "--oidc-client-secret",
      "s",
    ];
    await done(
      "iam",
      "identity-providers",
      "create",
      "sso",
      "--parent",
      "example.org",
      "--default-role",
      "viewer",
      ...provider,
    );
    await done(
      "iam",
      "external-group-role-mappings",
      "create",
      "devs",
      "--identity-provider",
      "sso",
      "--role",
      "editor",
    );
    await done("events", "subscriptions", "create", "https://hooks.test/in", "--parent", "example.org");
    await done(
      "iam",
      "account-associations",
      "create",
      "cloud",
      "--parent",
      "example.org/engineering",
      "--aws-account",
      "123456789012",
    );
  });
  after(async () => {
    await caller[Symbol.asyncDispose]();
  });

  /** Lines in the output of `describe` for each kind. */
  const shown: [args: string[], lines: RegExp[]][] = [
    [
      ["iam", "identities", "describe", "robot"],
      [
        /^Name: +robot$/m,
        /^UID: +[0-9a-f/]+$/m,
        /^Parents:\n {2}NAME +UID\n {2}example\.org +\S+\n {2}engineering +\S+$/m,
        /^Role bindings:\n {2}IDENTITY +ROLE +GROUP +UID\n(?: {2}robot .*\n){4}/m,
        /^ {2}viewer +engineering +engineering +there and below$/m,
        /^ {2}editor +platform +platform +there and below; inherited|^ {2}editor +platform +platform +there and below$/m,
        /^ {2}editor +engineering +example\.org +inherited, and confined to the identity's group$/m,
        /^ {2}editor +security +nowhere: the identity is confined to its group$/m,
      ],
    ],
    [
      ["iam", "roles", "describe", "viewer"],
      [/^Capabilities by service:\n {2}SERVICE +ALLOWS$/m, /^ {2}groups +list$/m, /^ {2}robot +viewer +engineering/m],
    ],
    [
      ["iam", "groups", "describe", "example.org"],
      [
        /^Parents: none$/m,
        /^Children:\n {2}NAME.*\n {2}(engineering|security) /m,
        /^ {2}repos +14 +14$/m,
        /^ {2}identities +\d+ +\d+$/m,
      ],
    ],
    [
      ["iam", "folders", "describe", "example.org/engineering"],
      [
        /^Parents:\n.*\n {2}example\.org /m,
        /^ {2}platform +\S+$/m,
        /^ {2}robot +viewer +\S+ +engineering$/m,
        /^ {2}robot +editor +\S+ +example\.org$/m,
      ],
    ],
    [
      ["iam", "identity-providers", "describe", "sso"],
      [
        /^OIDC:\n {2}Issuer: +https:\/\/sso\.acme\.test$/m,
        /^Default role:\n.*\n {2}viewer /m,
        /^External group role mappings:\n.*\n {2}devs /m,
      ],
    ],
    [
      ["iam", "external-group-role-mappings", "describe", "devs"],
      [/^Identity provider:\n.*\n {2}sso /m, /^Role:\n.*\n {2}editor /m],
    ],
    [
      ["iam", "account-associations", "describe", "cloud"],
      [/^Amazon:\n {2}Account: +123456789012$/m, /^ {2}engineering /m],
    ],
    [["images", "repos", "describe", "nginx"], [/^Tags:\n {2}NAME +DIGEST +UPDATED\n(?: {2}\S+ +sha256:.*\n){4}/m]],
    [
      ["images", "tags", "describe", "nginx:latest"],
      [/^Repo:\n.*\n {2}nginx /m, /^Images:\n {2}ARCHITECTURE\n/m],
    ],
    [["events", "subscriptions", "describe", "https://hooks.test/in"], [/^Delivery:\n {2}WAITING .*\n {2}\d+/m]],
  ];

  describe("describe", () => {
    for (const [args, lines] of shown) {
      it(args.join(" "), async () => {
        const text = await done(...args);
        for (const line of lines) assert.match(text, line);
      });
    }

    it("shows the events of an advisory, and the place of an invite and of a binding", async () => {
      const [{ advisoryId }] = (await caller.json("advisories", "list")).items;
      assert.match(
        await done("advisories", "describe", advisoryId),
        /^Events:\n {2}TIME +EVENT +STATE +AUTHOR +SAYS\n/m,
      );
      const invite = await caller.json("iam", "invites", "create", "--parent", "example.org", "--role", "viewer");
      assert.match(await done("iam", "invites", "describe", invite.uid), /^Parents:\n.*\n {2}example\.org /m);
      const [{ uid }] = (await caller.json("iam", "role-bindings", "list", "--identity", "robot")).items;
      assert.match(await done("iam", "role-bindings", "describe", uid), /^Effective roles:\n {2}ROLE +COUNTS AT/m);
    });

    it("is a document of the resource with its relations as JSON and YAML", async () => {
      const json = await caller.json("iam", "identities", "describe", "robot");
      assert.equal(json.name, "robot");
      assert.deepEqual(
        json.relations.effectiveRoles.items
          .map(({ role, how }: { role: { name: string }; how: string }) => [role.name, how.split(/[;:,]/)[0]])
          .sort(),
        [
          ["editor", "inherited"],
          ["editor", "nowhere"],
          ["editor", "there and below"],
          ["viewer", "there and below"],
        ],
      );
      assert.equal(json.relations.roleBindings.total, 4);
      assert.deepEqual(parseYaml(await done("iam", "identities", "describe", "robot", "-o", "yaml")), json);
      assert.equal(
        await done("iam", "identities", "describe", "robot", "--query", "relations.parents.items[].name"),
        "example.org\nengineering\n",
      );
      const { relations } = await caller.json("iam", "roles", "describe", "viewer");
      assert.deepEqual(
        relations.capabilitiesByService.items.find(({ service }: { service: string }) => service === "groups"),
        { service: "groups", capabilities: ["list"] },
      );
    });

    it("leaves out resources that the caller may not see, with a note", async () => {
      const reader = ["reader", "--parent", "example.org", "--service-principal", "INGESTER", "--role", "narrow"];
      await done("iam", "roles", "create", "narrow", "--parent", "example.org", "--capabilities", "identity.list");
      const { uid } = await caller.json("iam", "identities", "create", ...reader);
      const environment = { GATEHOUSE_TOKEN: await caller.server.tokenOf(uid) };
      const seen = await caller.runWith(environment, "iam", "identities", "describe", "robot");
      assert.equal(seen.code, 0, seen.stderr);
      assert.match(seen.stdout, /^Role bindings: (none|you may not see them)$/m);
      assert.ok(!seen.stdout.includes("engineering "));
    });

    it("update accepts the printed document", async () => {
      const { writeFileSync } = await import("node:fs");
      const file = `${caller.home}/described.yaml`;
      writeFileSync(
        file,
        (await done("iam", "groups", "describe", "security", "-o", "yaml")).replace("name: security", "name: safety"),
      );
      assert.equal((await caller.json("iam", "groups", "update", "security", "-f", file)).name, "safety");
      await done("iam", "groups", "update", "safety", "-n", "security");
    });
  });

  describe("delete", () => {
    it("says of a group that is not empty what is in it, and how to list it", async () => {
      const { code, stderr } = await caller.run("iam", "organizations", "delete", "example.org", "--yes");
      assert.equal(code, 1);
      assert.match(stderr, /cannot delete group with child repos\n/);
      assert.match(stderr, /^ {2}14 repos: gatehouse images repos list --parent [0-9a-f]{40} --recursive$/m);
      assert.match(stderr, /^ {2}1 identity provider: gatehouse iam identity-providers list /m);
    });

    it("removes tags and repos, so their organization can be deleted", async () => {
      const { uid } = await caller.json("iam", "organizations", "create", "images.test");
      const digest = `sha256:${"0".repeat(64)}`;
      const post = (address: string, body: object) =>
        done("api", "POST", address, "-d", JSON.stringify(body), "-o", "json");
      const repo = JSON.parse(await post(`/registry/v2beta1/repos/${uid}`, { name: "app" }));
      await post(`/registry/v2beta1/tags/${repo.uid}`, { name: "v1", digest });
      const refused = await caller.run("iam", "organizations", "delete", "images.test", "--yes");
      assert.match(refused.stderr, /^ {2}1 repo: gatehouse images repos list --parent /m);
      await done("images", "tags", "delete", "app:v1", "--yes");
      await done("images", "repos", "delete", "app", "--yes");
      await done("iam", "organizations", "delete", "images.test", "--yes");
    });

    it("takes an account association by the name that its list shows, and by that of its group", async () => {
      for (const name of ["cloud", "example.org/engineering"])
        assert.equal((await caller.json("iam", "account-associations", "describe", name)).name, "cloud");
      // Of two that could be meant, neither is.
      await done(
        "iam",
        "account-associations",
        "create",
        "engineering",
        "--parent",
        "example.org",
        "--aws-account",
        "123456789012",
      );
      const several = await caller.run("iam", "account-associations", "delete", "engineering", "--yes");
      assert.match(several.stderr, /several account associations are called "engineering"; name one by its uid/);
      await done("iam", "account-associations", "update", "cloud", "-d", "changed");
      await done("iam", "account-associations", "delete", "cloud", "--yes");
    });
  });
});
