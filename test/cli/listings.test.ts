// Tests of lists of the registry, of advisories and of events.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { generateAdvisories } from "../../src/server/development/samples/advisories.ts";
import { insertSampleRepos } from "../../src/server/development/samples/repos.ts";
import { insertAdvisory } from "../../src/services/vulnerabilities/advisories/insert-advisory.ts";
import { rest } from "../harness/rest.ts";
import { addGroup } from "../security/tree.ts";
import { type Caller, startCaller } from "./caller.ts";

let caller: Caller;

/** Runs a command that must succeed. */
async function done(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await caller.run(...args);
  assert.equal(code, 0, stderr);
  return stdout;
}

describe("gatehouse images, advisories, events", () => {
  before(async () => {
    caller = await startCaller();
    const { server, groupUid } = caller.server;
    await server.database.write({ actor: "", method: "test", requestId: "", time: Date.now() }, async (tx) => {
      await insertSampleRepos(tx, groupUid);
      for (const advisory of generateAdvisories("cli", 3)) await insertAdvisory(tx, groupUid, advisory);
    });
  });
  after(async () => {
    await caller[Symbol.asyncDispose]();
  });

  it("the commands of images list repos, and the tags of a repo", async () => {
    const repos = await caller.json("images", "repos", "list", "--parent", "example.org");
    assert.equal(repos.items.length, 14);
    assert.match(await done("images", "repos", "list", "--name", "nginx"), /^nginx +\S+ +application$/m);
    assert.equal((await caller.json("images", "repos", "describe", "redis")).name, "redis");
    const tags = await caller.json("images", "tags", "list", "--repo", "nginx");
    const names = tags.items.map(({ name }: { name: string }) => name);
    assert.deepEqual(names, ["5.0", "latest", "latest-dev"]);
    const all = await caller.json(
      "images",
      "tags",
      "list",
      "--repo",
      "nginx",
      "--show-epochs",
      "--updated-within",
      "24h",
    );
    assert.equal(all.items.length, 4);
    assert.equal((await caller.json("images", "tags", "describe", tags.items[0].uid)).digest, tags.items[0].digest);
  });

  it("images: tags are in the order of their repos and names", async () => {
    const { items } = await caller.json("images", "repos", "list", "--parent", "example.org");
    const names = items.map(({ name }: { name: string }) => name);
    assert.deepEqual(names, names.toSorted());
    const lines = (await done("images", "tags", "list")).trimEnd().split("\n").slice(1);
    const shown = lines.map((line) => line.split(/ +/).slice(0, 2).join(" "));
    const { compare } = new Intl.Collator("en", { numeric: true });
    assert.deepEqual(shown, shown.toSorted(compare));
    assert.ok(shown.length > 14);
  });

  it("images: tags of several repos say whose they are", async () => {
    const { server } = caller;
    const post = async (path: string, body: object) =>
      (await rest(server.url, server.ownerToken, "POST", `/registry/v2beta1/${path}`, body)).body.uid;
    const digest = `sha256:${"0".repeat(64)}`;
    const group = await addGroup(server, server.groupUid, "several");
    const single = await post(`repos/${group}`, { name: "single" });
    const twins = [
      await post(`repos/${group}`, { name: "twin" }),
      await post(`repos/${await addGroup(server, group, "inner")}`, { name: "twin" }),
    ];
    for (const repo of [single, ...twins]) await post(`tags/${repo}`, { name: "v1", digest });
    const list = ["images", "tags", "list", "--parent", group, "--recursive"];
    const lines = (await done(...list)).trimEnd().split("\n");
    assert.match(lines[0]!, /^REPO +NAME +DIGEST +UPDATED$/);
    const shown = lines.slice(1).map((line) => line.split(/ +/).slice(0, 3).join(" "));
    assert.deepEqual(shown.sort(), ["single", ...twins].map((repo) => `${repo} v1 ${digest}`).sort());
    assert.match(await done(...list, "-o", "csv"), /^repo,name,digest,/);
    assert.match(await done("images", "tags", "list", "--repo", "single"), /^NAME +DIGEST +UPDATED\n/);
    // The uid is said where the name is not to be seen.
    await done("iam", "roles", "create", "tags", "--parent", "example.org", "--capabilities", "tag.list");
    const robot = ["robot", "--parent", "example.org", "--service-principal", "INGESTER", "--role", "tags"];
    const { uid } = await caller.json("iam", "identities", "create", ...robot);
    const seen = await caller.runWith({ GATEHOUSE_TOKEN: await server.tokenOf(uid) }, ...list);
    assert.match(seen.stdout, new RegExp(`^${single} +v1 +sha256:`, "m"), seen.stderr);
  });

  it("images: the tags of the repos of one group, also as a tree", async () => {
    const { server } = caller;
    const post = async (path: string, body: object) =>
      (await rest(server.url, server.ownerToken, "POST", `/registry/v2beta1/${path}`, body)).body.uid;
    const digest = `sha256:${"0".repeat(64)}`;
    const outer = await addGroup(server, server.groupUid, "outer");
    const inner = await addGroup(server, outer, "within");
    const [near, far] = [
      await post(`repos/${outer}`, { name: "same" }),
      await post(`repos/${inner}`, { name: "same" }),
    ];
    const [nearTag, farTag] = [
      await post(`tags/${near}`, { name: "near", digest }),
      await post(`tags/${far}`, { name: "far", digest }),
    ];
    const list = (...flags: string[]) => done("images", "tags", "list", "--parent", outer, ...flags);
    assert.equal(await list("-o", "id"), `${nearTag}\n`);
    // One repo of those that have its name.
    assert.equal(await list("--repo", "same", "-o", "id"), `${nearTag}\n`);
    assert.equal(await list("--repo", far, "-o", "id"), "");
    assert.equal(await list("--repo", far, "--recursive", "-o", "id"), `${farTag}\n`);
    const tree = [`same (${near})`, `└─ near (${nearTag})`, `same (${far})`, `└─ far (${farTag})`];
    assert.deepEqual((await list("--recursive", "-o", "tree")).trimEnd().split("\n").sort(), tree.sort());
    assert.deepEqual(await list("--repo", "same", "-o", "tree"), `same (${near})\n└─ near (${nearTag})\n`);
    assert.match(await done("images", "tags", "list", "--help"), /of repos directly below this group/);
  });

  it("advisories: listed, filtered, and described by their id", async () => {
    const { items } = await caller.json("advisories", "list");
    assert.equal(items.length, 3);
    const [{ advisoryId, aliases }] = items;
    assert.equal((await caller.json("advisories", "describe", advisoryId)).advisoryId, advisoryId);
    const byAlias = await caller.json("advisories", "list", "--alias", aliases[0]);
    assert.equal(byAlias.items.length, 1);
    const [fixed, others] = [
      await caller.json("advisories", "list", "--status", "fixed"),
      await caller.json("advisories", "list", "--status", "detection"),
    ];
    assert.ok(fixed.items.length < 3 && others.items.length < 3 + fixed.items.length);
    assert.match(await done("advisories", "list"), new RegExp(`^${advisoryId} `, "m"));
  });

  it("advisories: an alias names an advisory if only one has it", async () => {
    const group = await addGroup(caller.server, caller.server.groupUid, "aliased");
    const file = path.join(caller.home, "aliased.yaml");
    const event = "{timestamp: 2030-01-09T00:00:00Z, type: detection, data: {type: manual}}";
    for (const [name, id, aliases] of [
      ["one", "CGA-2345-6789-cfgj", "CVE-2031-1001, CVE-2031-1002"],
      ["two", "CGA-2345-6789-cfgm", "CVE-2031-1002"],
    ]) {
      const advisory = `{id: ${id}, aliases: [${aliases}], events: [${event}]}`;
      writeFileSync(file, `{schema-version: 2, package: {name: ${name}}, advisories: [${advisory}]}`);
      await done("advisories", "import", "--group", group, file);
    }
    assert.match(await done("advisories", "describe", "CVE-2031-1001"), /^ID: +CGA-2345-6789-cfgj\nPackage: +one$/m);
    const several = await caller.run("advisories", "describe", "CVE-2031-1002");
    assert.equal(several.code, 1);
    assert.match(
      several.stderr,
      /several advisories have the alias "CVE-2031-1002"; name one of them\n {2}ID +PACKAGE\n/,
    );
    for (const line of ["CGA-2345-6789-cfgj   one", "CGA-2345-6789-cfgm   two"])
      assert.ok(several.stderr.includes(line));
    const none = await caller.run("advisories", "describe", "CVE-2031-1003");
    assert.match(none.stderr, /there is no advisory "CVE-2031-1003" that you can see/);
  });

  it("advisories: the status is the last event, also where times are of different precision", async () => {
    const group = await addGroup(caller.server, caller.server.groupUid, "ordered");
    const events = [
      "{timestamp: 2030-01-09T00:00:00Z, type: detection, data: {type: manual}}",
      "{timestamp: 2030-01-09T00:00:00.500Z, type: true-positive-determination}",
      "{timestamp: 2030-01-09T00:00:01Z, type: fixed, data: {fixed-version: 1-r0}}",
    ];
    for (const [i, word] of ["detection", "true-positive-determination", "fixed"].entries()) {
      const file = path.join(caller.home, "ordered.yaml");
      const advisory = `{id: CGA-2345-6789-cfgh, events: [${events.slice(0, i + 1).join(", ")}]}`;
      writeFileSync(file, `{schema-version: 2, package: {name: tool}, advisories: [${advisory}]}`);
      await done("advisories", "import", "--group", group, file);
      const shown = await done("advisories", "list", "--parent", group);
      assert.match(shown, new RegExp(`^CGA-2345-6789-cfgh +tool +${word}\\b`, "m"));
    }
  });

  it("advisories: an id may have a slash, and a role in a path is one of that group", async () => {
    const group = await addGroup(caller.server, caller.server.groupUid, "elsewhere");
    const file = path.join(caller.home, "slash.json");
    const range = { type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "1" }] };
    const affected = [{ package: { ecosystem: "Alpine:v3.22", name: "tool" }, ranges: [range] }];
    writeFileSync(file, JSON.stringify({ id: "SOURCE/2030-1", modified: "2030-01-09T00:00:00Z", affected }));
    await done("advisories", "import", "--group", group, file);
    assert.match(
      await done("advisories", "describe", "SOURCE/2030-1"),
      /^ID: +SOURCE\/2030-1\nPackage: +tool\nStatus: +fixed$/m,
    );
    const { code, stderr } = await caller.run("iam", "roles", "describe", "example.org/viewer");
    assert.equal(code, 1);
    assert.match(stderr, /there is no role "example\.org\/viewer" that you can see\n {2}Did you mean viewer\?/);
  });

  it("events subscriptions: create, list, describe and delete", async () => {
    const created = await caller.json(
      "events",
      "subscriptions",
      "create",
      "https://hooks.test/in",
      "--parent",
      "example.org",
    );
    assert.match(await done("events", "subscriptions", "list"), /https:\/\/hooks\.test\/in/);
    assert.equal((await caller.json("events", "subscriptions", "describe", created.uid)).sink, "https://hooks.test/in");
    await done("events", "subscriptions", "delete", created.uid, "-y");
  });
});
