// Updates that change nothing, and update times when the clock goes back: every method that updates something.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import { lastChange } from "../../src/storage/change-log/change-log.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";

const [viewer, editor] = ["viewer", "editor"].map((wanted) => builtInRoles.find(({ name }) => name === wanted)!.uid);
const digest = `sha256:${"a".repeat(64)}`;
const minute = 60_000;

let server: TestServer;
let now = Date.UTC(2030, 0, 1);
/** The common setup of all cases. */
let root: string;
let identity: string;

// biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON
type Resource = any;

/** One way to update something. */
interface Update {
  readonly name: string;
  /** Makes it, as the update or a GET would show it. */
  make(): Promise<Resource>;
  /** Returns the request that sets it to what it is, with `description` or another text in the place of what it says. */
  send(made: Resource, text?: string): Promise<Resource>;
  /** Whether it says nothing that could be changed. */
  readonly isFixed?: boolean;
}

async function call(method: string, path: string, body?: unknown): Promise<Resource> {
  const reply = await rest(server.url, server.ownerToken, method, path, body);
  assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`);
  return reply.body;
}

let made = 0;
const nextName = () => `thing-${made++}`;
const bodyOf = (description: string) => ({ name: nextName(), description });

/** PATCH of a resource of today under its parent. */
function today(name: string, at: string, more: () => object = () => ({})): Update {
  return {
    name,
    make: () => call("POST", `${at}/${root}`, { ...bodyOf("as it is"), ...more() }),
    send: ({ uid, name, description, ...rest }, text = description) => {
      const { createTime: _1, updateTime: _2, lastSeenTime: _3, scim: _4, ...sent } = rest;
      return call("PATCH", `${at}/${uid}`, { ...sent, name, description: text });
    },
  };
}

const claimMatch = () => ({ claimMatch: { issuer: "https://issuer.example.org", subject: nextName() } });
const oidc = { issuer: "https://idp.example.org", clientId: "c", pkceEnabled: true };
const advisory = () => ({
  author: "a@example.org",
  artifactName: nextName(),
  artifactType: "apk",
  artifactArchitecture: "x86_64",
  aliases: ["CVE-2030-1"],
});

function makeAdvisory(): Promise<Resource> {
  return call("POST", "/vulnerabilities/v1/advisories", { parentId: root, advisory: advisory() });
}

const updates: readonly Update[] = [
  today("a group", "/iam/v2beta1/groups"),
  today("an identity", "/iam/v2beta1/identities", claimMatch),
  today("a role", "/iam/v2beta1/roles", () => ({ capabilities: ["CAP_IAM_GROUPS_LIST"] })),
  today("an identity provider", "/iam/v2beta1/identityProviders", () => ({ defaultRole: viewer, oidc })),
  today("a repo", "/registry/v2beta1/repos", () => ({ bundles: ["base"] })),
  {
    name: "an account association",
    async make() {
      const { uid } = await call("POST", `/iam/v2beta1/groups/${root}`, bodyOf(""));
      const amazon = { account: "123456789012" };
      return await call("POST", `/iam/v2beta1/accountAssociations/${uid}`, { ...bodyOf("as it is"), amazon });
    },
    send: ({ uid, name, description, amazon }, text = description) =>
      call("PATCH", `/iam/v2beta1/accountAssociations/${uid}`, { name, description: text, amazon }),
  },
  {
    name: "a role binding",
    async make() {
      const { uid: identityUid } = await call("POST", `/iam/v2beta1/identities/${root}`, {
        ...bodyOf(""),
        ...claimMatch(),
      });
      return await call("POST", `/iam/v2beta1/roleBindings/${root}`, { identityUid, roleUid: viewer });
    },
    send: ({ uid, identity, role }) =>
      call("PATCH", `/iam/v2beta1/roleBindings/${uid}`, { identityUid: identity.uid, roleUid: role.uid }),
    isFixed: true,
  },
  {
    name: "a group invite",
    async make() {
      const { code: _code, ...shown } = await call("POST", `/iam/v2beta1/groupInvites/${root}`, {
        roleUid: viewer,
        email: "someone@example.org",
        ttl: "3600s",
      });
      return shown;
    },
    send: ({ uid, roleUid, email }) => call("PATCH", `/iam/v2beta1/groupInvites/${uid}`, { roleUid, email }),
    isFixed: true,
  },
  {
    name: "identity metadata",
    make: () => call("PATCH", "/iam/v2beta1/identities:updateIdentityMetadata", sentMetadata("first")),
    send: (_made, text = "first") =>
      call("PATCH", "/iam/v2beta1/identities:updateIdentityMetadata", sentMetadata(text)),
  },
  {
    name: "a readme",
    async make() {
      const { uid } = await call("POST", `/registry/v2beta1/repos/${root}`, bodyOf(""));
      return await call("PATCH", `/registry/v2beta1/repos/${uid}/readme`, { content: "# As it is" });
    },
    send: ({ uid, content }, text = content) =>
      call("PATCH", `/registry/v2beta1/repos/${uid}/readme`, { content: text }),
  },
  {
    name: "a tag that is set again",
    async make() {
      const { uid } = await call("POST", `/registry/v2beta1/repos/${root}`, bodyOf(""));
      return { repo: uid, ...(await call("POST", `/registry/v2beta1/tags/${uid}`, { name: "1.0", digest })) };
    },
    send: async ({ repo, name }, text) => {
      const sent = { name, digest: text ? `sha256:${"b".repeat(64)}` : digest };
      return { repo, ...(await call("POST", `/registry/v2beta1/tags/${repo}`, sent)) };
    },
  },
  {
    name: "whether SCIM is enabled",
    async make() {
      const { uid } = await call("POST", `/iam/v2beta1/identityProviders/${root}`, {
        ...bodyOf(""),
        defaultRole: viewer,
        oidc,
      });
      const { etag } = await call("POST", `/iam/v2beta1/identityProviders/${uid}:generateScimToken`, {});
      return { identityProviderUid: uid, enabled: false, etag };
    },
    send: ({ identityProviderUid: uid, etag }) =>
      call("POST", `/iam/v2beta1/identityProviders/${uid}:setScimEnabled`, { enabled: false, etag }),
    isFixed: true,
  },
  {
    name: "SCIM tokens that are revoked again",
    async make() {
      const { uid } = await call("POST", `/iam/v2beta1/identityProviders/${root}`, {
        ...bodyOf(""),
        defaultRole: viewer,
        oidc,
      });
      await call("POST", `/iam/v2beta1/identityProviders/${uid}:generateScimToken`, {});
      return await call("POST", `/iam/v2beta1/identityProviders/${uid}:revokeScimToken`, {});
    },
    send: ({ identityProviderUid: uid }) => call("POST", `/iam/v2beta1/identityProviders/${uid}:revokeScimToken`, {}),
    isFixed: true,
  },
  {
    name: "a repo of version 1 with its readme",
    make: () => call("POST", `/registry/v1/repos/${root}`, { name: nextName(), readme: "# As it is" }),
    send: ({ id, ...rest }, text = rest.readme) => call("PUT", `/registry/v1/repos/${id}`, { ...rest, readme: text }),
  },
  {
    name: "a tag of version 1",
    async make() {
      const { uid } = await call("POST", `/registry/v2beta1/repos/${root}`, bodyOf(""));
      return await call("POST", `/registry/v1/tags/${uid}`, { name: "1.0", digest });
    },
    send: ({ id, name, digest }, text = name) => call("PUT", `/registry/v1/tags/${id}`, { name: text, digest }),
  },
  {
    name: "a group of version 1",
    make: () => call("POST", `/iam/v1/groups/${root}`, bodyOf("as it is")),
    send: ({ id, name, description }, text = description) =>
      call("PUT", `/iam/v1/groups/${id}`, { name, description: text }),
  },
  {
    name: "an identity of version 1",
    make: () => call("POST", `/iam/v1/identities/${root}`, { ...bodyOf("as it is"), ...claimMatch() }),
    send: ({ id, name, description, claimMatch: match }, text = description) =>
      call("PUT", `/iam/v1/identities/${id}`, { name, description: text, claimMatch: match }),
  },
  {
    name: "a role of version 1",
    make: () => call("POST", `/iam/v1/roles/${root}`, { ...bodyOf("as it is"), capabilities: ["groups.list"] }),
    send: ({ id, name, description, capabilities }, text = description) =>
      call("PUT", `/iam/v1/roles/${id}`, { name, description: text, capabilities }),
  },
  {
    name: "a role binding of version 1",
    make: () => call("POST", `/iam/v1/rolebindings/${root}`, { identity, role: editor }),
    send: ({ id, role }) => call("PUT", `/iam/v1/rolebindings/${id}`, { identity, role }),
    isFixed: true,
  },
  {
    name: "an advisory",
    make: makeAdvisory,
    send: ({ id, createTime: _1, updateTime: _2, events: _3, ...sent }, text = sent.author) =>
      call("PUT", `/vulnerabilities/v1/advisories/${id}`, { ...sent, author: text }),
  },
  {
    name: "an event of an advisory",
    async make() {
      const { id } = await makeAdvisory();
      const advisoryEvent = { author: "a@example.org", status: "PENDING", fixed: { fixedVersion: "1.0" } };
      return await call("POST", `/vulnerabilities/v1/advisories/${id}/events`, { advisoryEvent });
    },
    send: ({ id, author, status, fixed }, text = author) =>
      call("PUT", `/vulnerabilities/v1/advisory_events/${id}`, { author: text, status, fixed }),
  },
  {
    name: "an import",
    make: () => importRecord(nextName(), "CVE-2030-1"),
    send: ({ document, aliases }, text = aliases[0]) => importRecord(document, text),
  },
];

/** Imports a record, of which the advisory shows the alias. */
async function importRecord(id: string, alias: string): Promise<Resource> {
  const statements = [{ product: { purl: "pkg:npm/left" }, status: "PRODUCT_STATUS_AFFECTED" }];
  const ids = { source: "osv", document: id, vulnerability: id, advisoryId: id, aliases: [alias] };
  const record = { ...ids, format: "RECORD_FORMAT_OSV", statements };
  const { results } = await call("POST", `/gatehouse/vulnerabilities/v1/records/${root}:import`, { records: [record] });
  assert.equal(results[0].error, undefined);
  return record;
}

function sentMetadata(jobTitle: string) {
  return { identityMetadata: { jobTitle }, updateMask: "jobTitle" };
}

describe("updates and their times", () => {
  before(async () => {
    server = await startTestServer({ clock: () => now });
    root = server.groupUid;
    identity = server.ownerUid;
  });

  after(() => server[Symbol.asyncDispose]());

  const logged = () => lastChange(server.server.database.session);

  describe("an update that changes nothing", () => {
    for (const { name, make, send } of updates) {
      it(`writes nothing, and its response is the same: ${name}`, async () => {
        const resource = await make();
        const last = await logged();
        now += minute;
        const shown = await send(resource);
        now += minute;
        assert.deepEqual(await send(resource), shown);
        assert.equal(await logged(), last);
      });
    }
  });

  it("a secret that is sent again counts as a change, so it cannot be guessed", async () => {
    const sent = { ...bodyOf(""), defaultRole: viewer, oidc: { ...oidc, clientSecret: "hush" } };
    const { uid } = await call("POST", `/iam/v2beta1/identityProviders/${root}`, sent);
    for (const clientSecret of ["hush", "another"]) {
      const last = await logged();
      await call("PATCH", `/iam/v2beta1/identityProviders/${uid}`, { oidc: { clientSecret } });
      assert.notEqual(await logged(), last);
    }
  });

  describe("an update time", () => {
    for (const { name, make, send, isFixed } of updates) {
      if (isFixed) continue;
      it(`neither decreases nor precedes the creation when the clock was set back: ${name}`, async () => {
        const resource = await make();
        const last = await logged();
        const before = await timesOf();
        now -= 10 * minute;
        await send(resource, "of-another");
        now += 10 * minute;
        assert.notEqual(await logged(), last);
        const times = await timesOf();
        for (const [uid, { createTime, updateTime }] of times) {
          assert.ok(updateTime >= createTime, uid);
          assert.ok(updateTime >= (before.get(uid)?.updateTime ?? 0), uid);
        }
      });
    }
  });

  /** Returns the times of everything that has an update time. */
  async function timesOf() {
    const { session } = server.server.database;
    const tables = [
      "groups",
      "identities",
      "roles",
      "accountAssociations",
      "identityProviders",
      "repos",
      "tags",
      "advisories",
    ];
    const found = await Promise.all(
      tables.map(async (name) => {
        const statement = session.prepared(`test.times.${name}`, (db, all) => {
          const { uid, createTime, updateTime } = all[name as "groups"];
          return db.select({ uid, createTime, updateTime }).from(all[name as "groups"]);
        });
        return await statement.execute();
      }),
    );
    return new Map(found.flat().map((row) => [row.uid, row]));
  }
});
