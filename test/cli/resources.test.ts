// Every command of every resource, run as a process against a server.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { keyPair, keySetText } from "../sts/outside.ts";
import { type Caller, startCaller } from "./caller.ts";

let caller: Caller;

/** Runs a command that must succeed. */
async function done(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await caller.run(...args);
  assert.equal(code, 0, stderr);
  return stdout;
}

describe("gatehouse iam", () => {
  before(async () => {
    caller = await startCaller();
  });
  after(async () => {
    await caller[Symbol.asyncDispose]();
  });

  it("organizations: create, list, describe, update and delete, by name", async () => {
    const created = await caller.json("iam", "organizations", "create", "acme.test", "-d", "Anvils");
    assert.match(created.uid, /^[0-9a-f]{40}$/);
    const listed = await caller.json("iam", "organizations", "list");
    assert.deepEqual(listed.items.map(({ name }: { name: string }) => name).sort(), ["acme.test", "example.org"]);
    const updated = await caller.json("iam", "organizations", "update", "acme.test", "--description", "Better anvils");
    assert.equal(updated.description, "Better anvils");
    assert.equal((await caller.json("iam", "organizations", "describe", created.uid)).name, "acme.test");
    const deleted = await caller.run("iam", "organizations", "delete", "acme.test", "--yes");
    assert.deepEqual([deleted.code, deleted.stdout], [0, ""]);
    assert.match(deleted.stderr, new RegExp(`^Deleted organization ${created.uid}\\.$`, "m"));
  });

  it("folders are the groups below organizations, found by a path of names", async () => {
    await done("iam", "folders", "create", "tools", "--parent", "example.org");
    const inner = await caller.json("iam", "folders", "create", "hammers", "--parent", "example.org/tools");
    assert.equal((await caller.json("iam", "folders", "describe", "example.org/tools/hammers")).uid, inner.uid);
    const below = await caller.json("iam", "folders", "list", "--parent", "example.org", "--recursive");
    assert.deepEqual(below.items.map(({ name }: { name: string }) => name).sort(), ["hammers", "tools"]);
    const direct = await caller.json("iam", "folders", "list", "--parent", "example.org");
    assert.deepEqual(
      direct.items.map(({ name }: { name: string }) => name),
      ["tools"],
    );
    const all = await caller.json("iam", "folders", "list");
    assert.ok(all.items.every(({ uid }: { uid: string }) => uid.includes("/")));
    await done("iam", "folders", "update", "hammers", "-n", "sledgehammers");
    await done("iam", "folders", "delete", "sledgehammers", "tools", "-y");
  });

  it("organizations and folders of one name are told apart, and neither is taken for the other", async () => {
    const organization = await caller.json("iam", "organizations", "create", "namesake");
    const folder = await caller.json("iam", "folders", "create", "namesake", "--parent", "example.org");
    assert.equal((await caller.json("iam", "organizations", "describe", "namesake")).uid, organization.uid);
    assert.equal((await caller.json("iam", "folders", "describe", "namesake")).uid, folder.uid);
    assert.equal((await caller.json("iam", "folders", "describe", "example.org/namesake")).uid, folder.uid);
    await done("iam", "organizations", "delete", "namesake", "--yes");
    const { code, stderr } = await caller.run("iam", "organizations", "delete", "namesake", "--yes");
    assert.equal(code, 1);
    assert.match(stderr, /there is no organization "namesake" that you can see/);
    assert.equal((await caller.run("iam", "folders", "describe", "example.org")).code, 1);
    const root = await caller.json("iam", "organizations", "describe", "example.org");
    for (const [kind, uid, said] of [
      ["organizations", folder.uid, /another kind of resource; expected: organization\n.*iam folders/],
      ["folders", root.uid, /another kind of resource; expected: folder\n.*iam organizations/],
    ] as const) {
      for (const args of [["describe"], ["update", "-d", "x"], ["delete", "--yes"]]) {
        const refused = await caller.run("iam", kind, ...args, uid);
        assert.equal(refused.code, 1, `${kind} ${args[0]}`);
        assert.match(refused.stderr, said);
      }
      assert.equal((await caller.json("iam", "groups", "describe", uid)).uid, uid);
    }
    await done("iam", "folders", "delete", "namesake", "--yes");
  });

  it("a name that several groups have is rejected with their uids", async () => {
    const [one, two] = [
      await caller.json("iam", "groups", "create", "twin", "--parent", "example.org"),
      await caller.json("iam", "groups", "create", "twin", "--parent", "example.org", "--yes"),
    ];
    const { code, stderr } = await caller.run("iam", "groups", "describe", "twin");
    assert.equal(code, 1);
    assert.match(stderr, /several groups are called "twin"; name one by its uid/);
    assert.ok(stderr.includes(one.uid) && stderr.includes(two.uid));
    await done("iam", "groups", "delete", one.uid, two.uid, "--yes");
  });

  it("an empty name means nothing, also where things have no names and there is only one", async () => {
    const invite = await caller.json("iam", "invites", "create", "--parent", "example.org", "--role", "viewer");
    for (const verb of [["describe"], ["delete", "--yes"]]) {
      const { code, stderr } = await caller.run("iam", "invites", ...verb, "");
      assert.equal(code, 2, verb.join(" "));
      assert.match(stderr, /the name of the invite is empty/);
    }
    await done("iam", "invites", "delete", invite.uid, "--yes");
  });

  it("identities: a claim match from flags, whose parts are changed one by one", async () => {
    const created = await caller.json(
      "iam",
      "identities",
      "create",
      "ci",
      "--parent",
      "example.org",
      "--role",
      "viewer,registry.push",
      "--identity-issuer",
      "https://token.actions.githubusercontent.com",
      "--subject",
      "repo:acme/app:ref:main",
      "--claim",
      "repository_owner=acme",
      "--claim-pattern",
      "ref=refs/heads/.+",
    );
    assert.deepEqual(created.claimMatch, {
      issuer: "https://token.actions.githubusercontent.com",
      subject: "repo:acme/app:ref:main",
      claims: { repository_owner: "acme" },
      claimPatterns: { ref: "refs/heads/.+" },
    });
    const bound = await caller.json("iam", "role-bindings", "list", "--identity", "ci");
    assert.deepEqual(bound.items.map(({ role }: { role: { name: string } }) => role.name).sort(), [
      "registry.push",
      "viewer",
    ]);
    const updated = await caller.json("iam", "identities", "update", "ci", "--subject-pattern", "repo:acme/.+");
    assert.equal(updated.claimMatch.subject, undefined);
    assert.equal(updated.claimMatch.subjectPattern, "repo:acme/.+");
    assert.equal(updated.claimMatch.issuer, "https://token.actions.githubusercontent.com");
    await done("iam", "identities", "delete", "ci", "--yes");
  });

  it("identities: an unknown role prevents the creation of the identity", async () => {
    const create = [
      "iam",
      "identities",
      "create",
      "half",
      "--parent",
      "example.org",
      "--service-principal",
      "INGESTER",
    ];
    const { code, stderr } = await caller.run(...create, "--role", "viewer,veiwer");
    assert.equal(code, 1);
    assert.match(stderr, /there is no role "veiwer" that you can see/);
    assert.deepEqual((await caller.json("iam", "identities", "list", "--name", "half")).items, []);
  });

  it("identities: static keys, AWS, service principals, and a body from a file", async () => {
    const keys = path.join(caller.home, "keys.json");
    const text = keySetText(keyPair("ES256"));
    writeFileSync(keys, text);
    const parent = ["--parent", "example.org"];
    const fixed = await caller.json(
      "iam",
      "identities",
      "create",
      "static",
      ...parent,
      "--identity-issuer",
      "https://robot.test",
      "--subject",
      "robot",
      "--issuer-keys",
      keys,
      "--expiration",
      "24h",
    );
    assert.equal(fixed.staticKeys.issuerKeys, text);
    assert.ok(Date.parse(fixed.staticKeys.expirationTime) > Date.now());
    const lasting = await caller.json(
      "iam",
      "identities",
      "create",
      "lasting",
      ...parent,
      "--identity-issuer",
      "https://robot.test",
      "--subject",
      "lasting",
      "--issuer-keys",
      keys,
    );
    const until = new Date(Date.parse(lasting.createTime) + 365 * 86_400_000).toISOString();
    for (const [name, time] of [
      ["static", fixed.staticKeys.expirationTime],
      ["lasting", until],
    ]) {
      const shown = await done("iam", "identities", "describe", name, "-o", "wide");
      assert.match(shown, /^Keys until: /m);
      assert.ok(shown.includes(time), name);
    }
    const aws = await caller.json(
      "iam",
      "identities",
      "create",
      "aws",
      ...parent,
      "--aws-account",
      "123456789012",
      "--aws-arn",
      "arn:aws:sts::123456789012:assumed-role/ci/run",
      "--aws-user-id-pattern",
      "AROA[A-Z]+:run",
    );
    assert.equal(aws.awsIdentity.awsAccount, "123456789012");
    await done("iam", "identities", "create", "service", ...parent, "--service-principal", "ingester");
    const body = path.join(caller.home, "identity.yaml");
    for (const member of ["claimMatch", "claim_match"]) {
      writeFileSync(body, `name: from-file\n${member}:\n  issuer: https://idp.test\n  subject: ${member}\n`);
      const { uid, name } = await caller.json("iam", "identities", "create", ...parent, "-f", body);
      assert.equal(name, "from-file");
      await done("iam", "identities", "delete", uid, "-y");
    }
    const listed = await caller.json("iam", "identities", "list", "--type", "aws");
    assert.deepEqual(
      listed.items.map(({ name }: { name: string }) => name),
      ["aws"],
    );
    await done("iam", "identities", "delete", "static", "lasting", "aws", "service", "-y");
  });

  it("roles: capabilities by the names that people know, added and removed", async () => {
    const created = await caller.json(
      "iam",
      "roles",
      "create",
      "reader",
      "--parent",
      "example.org",
      "--capabilities",
      "groups.list,repo.list",
    );
    assert.deepEqual(created.capabilities, ["CAP_IAM_GROUPS_LIST", "CAP_REPO_LIST"]);
    const updated = await caller.json(
      "iam",
      "roles",
      "update",
      "reader",
      "--add-capabilities",
      "tag.list",
      "--remove-capabilities",
      "repo.list",
    );
    assert.deepEqual(updated.capabilities, ["CAP_IAM_GROUPS_LIST", "CAP_TAG_LIST"]);
    const managed = await caller.json("iam", "roles", "list", "--managed");
    assert.ok(managed.items.every(({ name }: { name: string }) => name !== "reader"));
    assert.equal((await caller.json("iam", "roles", "describe", "viewer")).name, "viewer");
    await done("iam", "roles", "delete", "reader", "--yes");
    for (const args of [
      ["update", "-d", "x"],
      ["delete", "--yes"],
    ]) {
      const { code, stderr } = await caller.run("iam", "roles", ...args, "viewer");
      assert.equal(code, 1);
      assert.match(stderr, /\n {2}A built-in role can be neither changed nor deleted/);
      assert.doesNotMatch(stderr, /can-i/);
    }
    const wrong = await caller.run(
      "iam",
      "roles",
      "create",
      "x",
      "--parent",
      "example.org",
      "--capabilities",
      "gruops.list",
    );
    assert.equal(wrong.code, 2);
    assert.match(
      wrong.stderr,
      /there is no capability "gruops.list"\n {2}Did you mean groups\.list\?\n.*iam roles capabilities list/,
    );
    const all = await caller.json("iam", "roles", "capabilities", "list");
    const listed = all.items.find(({ name }: { name: string }) => name === "groups.list");
    assert.equal(listed.constant, "CAP_IAM_GROUPS_LIST");
    assert.ok(listed.roles.includes("viewer"));
  });

  it("role bindings: created by names, described, moved to another role, deleted", async () => {
    await done("iam", "identities", "create", "bound", "--parent", "example.org", "--service-principal", "INGESTER");
    const created = await caller.json(
      "iam",
      "role-bindings",
      "create",
      "--parent",
      "example.org",
      "--identity",
      "bound",
      "--role",
      "viewer",
    );
    const updated = await caller.json("iam", "role-bindings", "update", created.uid, "--role", "editor");
    assert.equal(updated.role.name, "editor");
    assert.equal((await caller.json("iam", "role-bindings", "describe", created.uid)).identity.name, "bound");
    assert.match(await done("iam", "role-bindings", "list", "--role", "editor"), /^bound +editor +example\.org/m);
    await done("iam", "role-bindings", "delete", created.uid, "--yes");
    await done("iam", "identities", "delete", "bound", "--yes");
  });

  it("invites: the code is shown once", async () => {
    const created = await caller.json(
      "iam",
      "invites",
      "create",
      "--parent",
      "example.org",
      "--role",
      "viewer",
      "--ttl",
      "2h",
      "--single-use",
    );
    assert.match(created.code, /^[0-9a-f]{96}$/);
    const described = await caller.json("iam", "invites", "describe", created.uid);
    assert.equal(described.code, undefined);
    assert.equal(described.singleUse, true);
    const left = Date.parse(described.expirationTime) - Date.now();
    assert.ok(left > 60 * 60_000 && left <= 2 * 60 * 60_000, String(left));
    await done("iam", "invites", "update", created.uid, "--email", "a@acme.test");
    assert.match(await done("iam", "invites", "list"), /a@acme\.test/);
    await done("iam", "invites", "delete", created.uid, "--yes");
  });

  it("identity providers: a secret is accepted and never shown, and a partial update keeps it", async () => {
    const secret = path.join(caller.home, "secret");
    writeFileSync(secret, "canary-client-secret\n");
    const created = await caller.json(
      "iam",
      "identity-providers",
      "create",
      "sso",
      "--parent",
      "example.org",
      "--default-role",
      "viewer",
      "--oidc-issuer",
      "https://sso.acme.test",
      "--oidc-client-id",
      "gatehouse",
      "--oidc-client-secret",
      secret,
      "--oidc-additional-scopes",
      "groups,offline_access",
      "--oidc-groups-claim",
      "groups",
    );
    assert.deepEqual(created.oidc.additionalScopes, ["groups", "offline_access"]);
    assert.equal(created.oidc.clientSecret, undefined);
    const updated = await caller.json("iam", "identity-providers", "update", "sso", "--oidc-client-id", "other");
    assert.deepEqual([updated.oidc.clientId, updated.oidc.issuer], ["other", "https://sso.acme.test"]);
    const described = await caller.run("iam", "identity-providers", "describe", "sso", "-o", "yaml");
    assert.ok(!described.stdout.includes("canary-client-secret"));
    assert.match(await done("iam", "identity-providers", "list"), /^sso +\S+ +https:\/\/sso\.acme\.test +other$/m);
    // Also where the server is called by another of its names: the URI is compared byte for byte at the provider.
    const redirectUri = `${caller.server.config.baseUrl}/oauth/callback/${created.uid}`;
    const elsewhere = { GATEHOUSE_URL: caller.server.url.replace("127.0.0.1", "localhost") };
    for (const args of [
      ["describe", "sso"],
      ["list", "-o", "wide"],
      ["update", "sso", "--oidc-pkce-enabled"],
    ]) {
      const { stdout, stderr } = await caller.runWith(elsewhere, "iam", "identity-providers", ...args);
      assert.ok(stdout.split(/\s+/).includes(redirectUri), `${args}: ${stdout}${stderr}`);
    }
    const lifetimeOf = async (...args: string[]) => {
      const { expireTime } = await caller.json("iam", "scim-tokens", ...args);
      return Math.round((Date.parse(expireTime) - Date.now()) / 3_600_000);
    };
    assert.equal(await lifetimeOf("create", "sso", "--ttl", "48h"), 48);
    assert.equal(await lifetimeOf("rotate", "sso", "--ttl", "72h"), 72);
    await done("iam", "identity-providers", "delete", "sso", "--yes");
  });

  it("account associations: one for a group, named by the group", async () => {
    await done(
      "iam",
      "account-associations",
      "create",
      "clouds",
      "--parent",
      "example.org",
      "--aws-account",
      "123456789012",
    );
    const updated = await caller.json(
      "iam",
      "account-associations",
      "update",
      "example.org",
      "--google-project-id",
      "p-1",
      "--google-project-number",
      "1234",
    );
    assert.deepEqual(updated.google, { projectId: "p-1", projectNumber: "1234" });
    assert.equal((await caller.json("iam", "account-associations", "describe", "example.org")).name, "clouds");
    assert.match(await done("iam", "account-associations", "list"), /clouds .* amazon,google/);
    await done("iam", "account-associations", "delete", "example.org", "--yes");
  });

  it("subscriptions: named by their sink, with what has not arrived there", async () => {
    const sink = "https://localhost:9/hook";
    await done("events", "subscriptions", "create", sink, "--parent", "example.org");
    const { uid } = await caller.json("events", "subscriptions", "describe", sink);
    assert.equal((await caller.json("events", "subscriptions", "state", sink)).subscriptionUid, uid);
    assert.equal((await caller.json("events", "subscriptions", "retry", uid)).subscriptionUid, uid);
    assert.match(
      await done("events", "subscriptions", "state", uid),
      /^SUBSCRIPTION +WAITING +SINCE +FAILED +LAST FAILURE/,
    );
    await done("events", "subscriptions", "delete", sink, "--yes");
  });

  it("subscriptions: paused and resumed, changed, tested, and their attempts shown and repeated", async () => {
    const sink = "https://localhost:9/tested";
    await done("events", "subscriptions", "create", sink, "--parent", "example.org");
    assert.match(await done("events", "subscriptions", "pause", sink), / paused$/m);
    assert.equal((await caller.json("events", "subscriptions", "resume", sink)).settings.paused, false);
    const settings = async (...changes: string[]) =>
      (await caller.json("events", "subscriptions", "update", sink, ...changes)).settings;
    assert.deepEqual((await settings("--kinds", "groups,roles", "--description", "d")).kinds, ["groups", "roles"]);
    const all = await settings("--kinds", "");
    assert.deepEqual([all.kinds, all.description], [undefined, "d"]);
    const nothing = await caller.run("events", "subscriptions", "update", sink);
    assert.equal(nothing.code, 2);
    const tested = await caller.run("events", "subscriptions", "test", sink);
    assert.equal(tested.code, 1);
    assert.match(tested.stderr, /the test event was not delivered: the address of the host is not public/);
    const { items } = await caller.json("events", "subscriptions", "attempts", sink);
    const [attempt] = items;
    assert.equal(attempt.failureReason, "DELIVERY_FAILURE_NO_PUBLIC_ADDRESS");
    assert.match(
      await done("events", "subscriptions", "attempt", attempt.uid),
      /ce-type.*gatehouse\.events\.test\.v1/s,
    );
    const redelivered = await done("events", "subscriptions", "redeliver", sink, attempt.eventId);
    assert.match(redelivered, /not stored/);
    await done("events", "subscriptions", "delete", sink, "--yes");
  });
});
