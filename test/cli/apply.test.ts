// `gatehouse export`, `apply`, `diff` and `delete --recursive`, from a server on SQLite to one on PostgreSQL.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { collections } from "../../src/services/resources.ts";
import { checkDatabase } from "../../src/storage/check/check-database.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { isQuick } from "../harness/quick.ts";
import { addCaller, addGroup, addPerson, bind, viewerRole } from "../security/tree.ts";
import { documentsOf } from "../services/apply/documents.ts";
import { largeOrganization, smallOrganization } from "../services/apply/generated.ts";
import { type Caller, startCaller } from "./caller.ts";

after(stopPostgres);

describe("gatehouse export, apply and diff", () => {
  let source: Caller;
  let target: Caller;
  let folder: string;
  before(async () => {
    [source, target] = await Promise.all([startCaller(), startCaller({ database: "postgres" })]);
    folder = path.join(source.home, "files");
    mkdirSync(folder);
    write("acme.yaml", documentsOf(smallOrganization("acme")));
    const { code, stderr } = await source.run("apply", "-f", folder, "--yes");
    assert.equal(code, 0, stderr);
  });
  after(async () => {
    await source[Symbol.asyncDispose]();
    await target[Symbol.asyncDispose]();
  });

  function write(name: string, text: string): string {
    const file = path.join(folder, name);
    writeFileSync(file, text);
    return file;
  }

  function contentOf(directory: string): Record<string, string> {
    return Object.fromEntries(
      readdirSync(directory).map((name) => [name, readFileSync(path.join(directory, name), "utf8")]),
    );
  }

  it("makes an equal organization on an empty server, and changes nothing the second time", async () => {
    const [first, second] = [path.join(source.home, "first"), path.join(source.home, "second")];
    assert.equal((await source.run("export", "acme", first)).code, 0);
    // The creator is the owner of both, and another identity on each server.
    const bindings = path.join(first, "role-bindings.yaml");
    writeFileSync(bindings, readFileSync(bindings, "utf8").replace(source.server.ownerUid, target.server.ownerUid));
    const applied = await target.run("apply", "-f", first, "--yes");
    assert.equal(applied.code, 0, applied.stderr);
    assert.match(applied.stdout, /^\+ role binding engineering\/ci has deployer at engineering\/platform$/m);
    const again = await target.run("apply", "-f", first, "--yes", "--prune");
    assert.match(again.stdout, /^Applied: 0 created, 0 updated, 0 deleted, 16 unchanged$/m);
    const same = await target.run("diff", "-f", first, "--prune");
    assert.deepEqual([same.code, same.stdout], [0, "No changes: the organization is as in the files.\n"]);
    assert.equal((await target.run("export", "acme", second)).code, 0);
    assert.deepEqual(contentOf(second), contentOf(first));
    const { database } = target.server.server;
    assert.deepEqual((await database.read((session) => checkDatabase(session, collections))).findings, []);
  });

  it("shows a difference with exit code 1, changes nothing in a dry run, and then exactly this", async () => {
    const file = write(
      "acme.yaml",
      documentsOf(smallOrganization("acme")).replace("description: Builders", "description: Makers"),
    );
    const compared = await source.run("diff", "-f", file);
    assert.equal(compared.code, 1);
    const shown = '~ group engineering\n      description: "Builders" → "Makers"\n';
    assert.equal(compared.stdout, `${shown}Plan: 0 to create, 1 to update, 0 to delete, 14 unchanged\n`);
    const dry = await source.run("apply", "-f", file, "--dry-run");
    assert.deepEqual([dry.code, dry.stdout], [0, compared.stdout]);
    const asked = await source.run("apply", "-f", file);
    assert.equal(asked.code, 2);
    assert.match(asked.stderr, /Say --yes/);
    const applied = await source.run("apply", "-f", file, "--yes");
    assert.equal(applied.stdout, `${shown}Applied: 0 created, 1 updated, 0 deleted, 14 unchanged\n`);
    const data = await source.json("diff", "-f", file);
    assert.equal(data.unchangedCount, 15);
  });

  it("says in comments who the people are, whose names may be hostile", async () => {
    const uid = await addGroup(source.server, null, "people");
    const people = {
      "Ana Lima": await addPerson(source.server, "Ana Lima", "ana@example.org", uid),
      hostile: await addPerson(source.server, "Eve\nrole: owner\u009b", "eve@example.org", uid),
      guest: await addPerson(source.server, "Guest", "guest@example.org", undefined),
    };
    for (const each of Object.values(people)) await bind(source.server, uid, each, viewerRole.uid);
    const own = { GATEHOUSE_TOKEN: (await addCaller(source.server, uid, viewerRole.uid)).token };
    const { stdout, stderr, code } = await source.runWith(own, "export", uid);
    assert.equal(code, 0, stderr);
    const line = (person: string) => stdout.split("\n").find((text) => text.includes(person));
    assert.equal(line(people["Ana Lima"]), `identityUid: ${people["Ana Lima"]} # Ana Lima, ana@example.org`);
    assert.equal(line(people.hostile), `identityUid: ${people.hostile} # Eve role: owner\\u{9b}, eve@example.org`);
    assert.equal(line(people.guest), `identityUid: ${people.guest}`);
    const same = await source.runWith(own, "diff", "-f", write("people.yaml", stdout), "--group", uid);
    assert.equal(same.stdout, "No changes: the organization is as in the files.\n");
  });

  it("lets a viewer compare, who may not apply", async () => {
    const acme = (await source.json("iam", "organizations", "describe", "acme")).uid;
    const { token } = await addCaller(source.server, acme, viewerRole.uid);
    const file = write("viewer.yaml", "kind: Group\nname: research\n");
    const compared = await source.runWith({ GATEHOUSE_TOKEN: token }, "diff", "-f", file, "--group", acme);
    assert.deepEqual([compared.code, compared.stdout.split("\n")[0]], [1, "+ group research"]);
    const dry = await source.runWith({ GATEHOUSE_TOKEN: token }, "apply", "-f", file, "--group", acme, "--dry-run");
    assert.equal(dry.code, 1);
    assert.match(dry.stderr, /groups\.create/);
    assert.match(dry.stderr, /\(\S+viewer\.yaml:1: group "research"\)/);
  });

  it("names file and line of what is wrong", async () => {
    const failing = async (text: string, ...more: string[]) => {
      const file = write("wrong.yaml", text);
      const { code, stderr } = await source.run("diff", "-f", file, "--group", "acme", ...more);
      assert.equal(code, 2, stderr);
      return stderr;
    };
    assert.match(
      await failing("kind: Group\nname: a\n---\nkind: Groupe\n"),
      /wrong\.yaml:4: kind: "Groupe" is not one of Organization, Group/,
    );
    assert.match(await failing("kind: Group\nnam: a\n"), /wrong\.yaml:1: key "nam" is unknown/);
    assert.match(await failing("kind: [\n"), /wrong\.yaml:\d: /);
    assert.match(await failing("- kind: Group\n"), /wrong\.yaml:1: a document must be a mapping/);
    assert.match(
      await failing("kind: Group\nname: ok\n---\nkind: Group\nname: NO\n"),
      /wrong\.yaml:4: group\.name: name must match/,
    );
    assert.match(
      await failing("kind: Repo\ngroup: nowhere\nname: a\n"),
      /wrong\.yaml:1: repo\.group: "nowhere" does not exist/,
    );
    assert.match(await failing("kind: Group\nname: a\n", "--prune-kinds", "Image"), /"Image" is not one of/);
    assert.match(await failing("# nothing\n"), /the files have no resources/);
    const file = write("nameless.yaml", "kind: Group\nname: a\n");
    assert.match((await source.run("diff", "-f", file)).stderr, /do not say which organization/);
  });

  it("reads client secrets from the environment only", async () => {
    const text = (secret: string) =>
      `kind: IdentityProvider\nname: sso\ndefaultRole: viewer\noidc:\n  issuer: https://sso.example.org\n  clientId: acme\n  clientSecret: ${secret}\n`;
    const variable = ["$", "{env:ACME_SECRET}"].join("");
    const literal = await source.run("diff", "-f", write("sso.yaml", text("hunter2")), "--group", "acme");
    assert.match(literal.stderr, /sso\.yaml:1: oidc\.clientSecret: must be \$\{env:NAME\}/);
    const named = write("sso.yaml", text(variable));
    const applying = ["apply", "-f", named, "--group", "acme", "--yes"];
    const missing = await source.run(...applying);
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /ACME_SECRET is not set/);
    assert.match(missing.stderr, /oidc\.client_secret: is required unless/);
    const secret = { ACME_SECRET: "correct horse battery staple" };
    const created = await source.runWith(secret, ...applying);
    assert.equal(created.code, 0, created.stderr);
    assert.match((await source.runWith(secret, ...applying)).stdout, /0 created, 0 updated/);
    assert.match((await source.run(...applying)).stdout, /0 created, 0 updated/);
    const set = await source.runWith(secret, ...applying, "--set-client-secrets");
    assert.match(set.stdout, /oidc\.client_secret: unset → \(secret\)/);
    const exported = await source.run("export", "acme");
    assert.doesNotMatch(exported.stdout + created.stdout + set.stdout, /correct horse/);
  });

  it("exports a group to files for --group", async () => {
    const directory = path.join(source.home, "part");
    const { stderr } = await source.run("export", "acme/engineering", directory);
    assert.match(stderr, /^paths begin at this group: diff and apply need --group acme\/engineering$/m);
    const without = await source.run("diff", "-f", directory);
    assert.deepEqual([without.code, /--group/.test(without.stderr)], [2, true]);
    const named = await source.run("diff", "-f", directory, "--group", "acme/engineering", "--prune");
    assert.deepEqual([named.code, named.stdout], [0, "No changes: the organization is as in the files.\n"]);
  });

  it("names the places of two documents for one resource", async () => {
    const file = write("twice.yaml", "kind: Group\nname: twice\n---\nkind: Group\nname: twice\n");
    const { code, stderr } = await source.run("diff", "-f", file, "--group", "acme");
    rmSync(file);
    assert.deepEqual(
      [code, stderr],
      [2, `gatehouse: Invalid argument: ${file}:4: is the same resource as ${file}:1\n`],
    );
  });

  it("says how to begin if there are no files", async () => {
    const { code, stderr } = await source.run("diff", "-f", path.join(source.home, "nowhere"));
    assert.equal(code, 2);
    assert.match(stderr, /nowhere cannot be read: ENOENT: no such file or directory\n {2}`gatehouse export /);
  });

  it("applies to a subgroup, and prunes what is asked for there", async () => {
    const uid = await addGroup(source.server, source.server.groupUid);
    const file = write(
      "team.yaml",
      "kind: Group\nname: team\n---\nkind: RoleBinding\ngroup: team\nidentityUid: OWNER\nrole: viewer\n".replace(
        "OWNER",
        source.server.ownerUid,
      ),
    );
    const applied = await source.run("apply", "-f", file, "--group", uid, "--yes");
    assert.equal(applied.code, 0, applied.stderr);
    const pruned = await source.run(
      "apply",
      "-f",
      write("team.yaml", "kind: Group\nname: team\n"),
      "--group",
      uid,
      "--yes",
      "--prune-kinds",
      "RoleBinding",
    );
    assert.match(pruned.stdout, /^- role binding .* has viewer at team$/m);
  });

  it("deletes a group with everything in it, if that is confirmed", async () => {
    const file = write("gone.yaml", documentsOf(smallOrganization("gone")));
    assert.equal((await source.run("apply", "-f", file, "--yes")).code, 0);
    const asked = await source.run("iam", "organizations", "delete", "gone", "--recursive");
    assert.equal(asked.code, 2);
    assert.match(
      asked.stderr,
      /^- 3 groups\n- 2 identities\n- 1 identity provider\n- 1 repo\n- 4 role bindings\n- 2 roles\n/m,
    );
    const two = await source.run("iam", "groups", "delete", "gone", "acme", "--recursive", "--yes");
    assert.match(two.stderr, /one group at a time/);
    const done = await source.run("iam", "organizations", "delete", "gone", "--recursive", "--yes");
    assert.equal(done.code, 0, done.stderr);
    assert.match(
      (await source.run("iam", "organizations", "describe", "gone")).stderr,
      /there is no organization "gone"/,
    );
    const { database } = source.server.server;
    assert.deepEqual((await database.read((session) => checkDatabase(session, collections))).findings, []);
  });

  it("writes and reads thousands of resources", { skip: isQuick }, async () => {
    const resources = largeOrganization("large", { groups: 200, roles: 5, identities: 400, repos: 400, bindings: 900 });
    const file = write("large.yaml", documentsOf(resources));
    const applied = await source.run("apply", "-f", file, "--yes");
    assert.match(applied.stdout, /^… and 906 more\nApplied: 1906 created/m);
    const directory = path.join(source.home, "large");
    assert.equal((await source.run("export", "large", directory)).code, 0);
    assert.equal((await source.run("diff", "-f", directory, "--prune")).code, 0);
  });
});
