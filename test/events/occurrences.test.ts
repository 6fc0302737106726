// The event of each method: the life of every resource, in both versions, as a receiver sees it.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { getOption, hasOption } from "@bufbuild/protobuf";
import { type CloudEvent, HTTP } from "cloudevents";
import { EventAttributes_Audience, events as eventOption } from "../../gen/chainguard/annotations/events_pb.ts";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import type { TestServer } from "../harness/server.ts";
import { addIdentity, bind, ownerRole } from "../security/tree.ts";
import { composeUncalled } from "../server/compose-uncalled.ts";
import { openSink, startSendingServer } from "./sink.ts";

const [viewer, editor] = ["viewer", "editor"].map((wanted) => builtInRoles.find(({ name }) => name === wanted)!.uid);

/** An event, as far as it is compared. */
interface Told {
  readonly type: string;
  readonly source: string;
  readonly subject: string | undefined;
  readonly group: string;
  readonly bodytype: string;
  readonly body: unknown;
}

/** The expected event of a call. By default, the subject is the uid of the response, and the body the response itself. */
interface Expected extends Partial<Pick<Told, "subject" | "group" | "body">> {
  readonly type: string;
  readonly source: string;
  readonly bodytype: string;
}

class Life {
  readonly expected: Told[] = [];
  readonly #server: TestServer;

  constructor(server: TestServer) {
    this.#server = server;
  }

  /** Calls, and remembers what is to be told of it. Without an expectation nothing is. */
  // biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON
  async call(method: string, path: string, body: unknown, told?: (answer: any) => Expected): Promise<any> {
    const { url, ownerToken } = this.#server;
    const reply = await rest(url, ownerToken, method, path, body);
    assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`);
    if (told) this.#expect(reply.body, told(reply.body));
    return reply.body;
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  #expect(answer: any, { type, source, bodytype, ...given }: Expected): void {
    const subject = "subject" in given ? given.subject : (answer.uid ?? answer.id);
    this.expected.push({
      type: `dev.chainguard.api.${type}`,
      source: this.#server.url + source,
      subject,
      group: given.group ?? parent(subject!),
      bodytype: `chainguard.platform.${bodytype}`,
      body: withoutZeros("body" in given ? given.body : answer),
    });
  }
}

const parent = (uid: string) => uid.slice(0, uid.lastIndexOf("/"));

/** Replies over REST say what is zero or false, in times too; events, as protobuf has it, do not. */
function withoutZeros(value: unknown): unknown {
  if (typeof value === "string") return value.replace(/(T\d\d:\d\d:\d\d)\.000Z$/, "$1Z");
  if (Array.isArray(value)) return value.map(withoutZeros);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, withoutZeros(member)] as const);
  const isSet = (member: unknown) =>
    member !== undefined &&
    member !== false &&
    member !== 0 &&
    member !== "" &&
    JSON.stringify(member) !== "{}" &&
    JSON.stringify(member) !== "[]";
  return Object.fromEntries(members.filter(([, member]) => isSet(member)));
}

async function livesOfToday(life: Life, root: string, isTold: () => Promise<void>): Promise<void> {
  const iam = (service: string, message: string) => ({
    source: `/iam/v2beta1/${service}`,
    bodytype: `iam.v2beta1.${message}`,
  });
  const registry = (service: string, message: string) => ({
    source: `/registry/v2beta1/${service}`,
    bodytype: `registry.v2beta1.${message}`,
  });

  const groups = (message: string) => iam("groups", message);
  const team = await life.call("POST", `/iam/v2beta1/groups/${root}`, { name: "team" }, ({ uid }) => ({
    type: "iam.group.created.v1",
    ...groups("Group"),
    group: uid,
  }));
  await life.call("PATCH", `/iam/v2beta1/groups/${team.uid}`, { description: "of ours" }, ({ uid }) => ({
    type: "iam.group.updated.v1",
    ...groups("Group"),
    group: uid,
  }));

  const identities = (message: string) => iam("identities", message);
  const claimMatch = { issuer: "https://issuer.example.org", subject: "s" };
  const identity = await life.call("POST", `/iam/v2beta1/identities/${team.uid}`, { name: "ci", claimMatch }, () => ({
    type: "iam.identity.created.v1",
    ...identities("Identity"),
  }));
  await life.call("PATCH", `/iam/v2beta1/identities/${identity.uid}`, { description: "d" }, () => ({
    type: "iam.identity.updated.v1",
    ...identities("Identity"),
  }));

  const roles = (message: string) => iam("roles", message);
  const role = await life.call(
    "POST",
    `/iam/v2beta1/roles/${team.uid}`,
    { name: "reader", capabilities: ["CAP_IAM_GROUPS_LIST"] },
    () => ({ type: "iam.roles.created.v1", ...roles("Role") }),
  );
  await life.call("PATCH", `/iam/v2beta1/roles/${role.uid}`, { description: "d" }, () => ({
    type: "iam.roles.updated.v1",
    ...roles("Role"),
  }));

  const bindings = (message: string) => iam("roleBindings", message);
  const binding = await life.call(
    "POST",
    `/iam/v2beta1/roleBindings/${team.uid}`,
    { identityUid: identity.uid, roleUid: viewer },
    () => ({ type: "iam.rolebindings.created.v1", ...bindings("RoleBinding") }),
  );
  await life.call("PATCH", `/iam/v2beta1/roleBindings/${binding.uid}`, { roleUid: editor }, () => ({
    type: "iam.rolebindings.updated.v1",
    ...bindings("RoleBinding"),
  }));
  await life.call(
    "POST",
    "/iam/v2beta1/roleBindings:batchCreate",
    {
      parent: team.uid,
      requests: [viewer, role.uid].map((roleUid) => ({ roleBinding: { identityUid: identity.uid, roleUid } })),
    },
    () => ({
      type: "iam.rolebindings.created.batch.v1",
      bodytype: "iam.v2beta1.BatchCreateRoleBindingsResponse",
      source: "/iam/v2beta1/roleBindings:batchCreate",
      subject: team.uid,
      group: team.uid,
    }),
  );
  await isTold();
  await life.call("DELETE", `/iam/v2beta1/roleBindings/${binding.uid}`, undefined, () => ({
    type: "iam.rolebindings.deleted.v1",
    ...bindings("DeleteRoleBindingRequest"),
    subject: binding.uid,
    body: { uid: binding.uid },
  }));

  const invites = (message: string) => iam("groupInvites", message);
  const invite = await life.call(
    "POST",
    `/iam/v2beta1/groupInvites/${team.uid}`,
    { roleUid: viewer, ttl: "3600s", email: "a@example.org" },
    ({ uid, expirationTime }) => ({
      type: "iam.group_invite.created.v1",
      ...invites("GroupInvite"),
      body: { uid, expirationTime },
    }),
  );
  await life.call("DELETE", `/iam/v2beta1/groupInvites/${invite.uid}`, undefined, () => ({
    type: "iam.group_invite.deleted.v1",
    ...invites("DeleteGroupInviteRequest"),
    subject: invite.uid,
    body: { uid: invite.uid },
  }));

  const associations = (message: string) => iam("accountAssociations", message);
  await life.call(
    "POST",
    `/iam/v2beta1/accountAssociations/${team.uid}`,
    { name: "cloud", amazon: { account: "123456789012" } },
    ({ uid }) => ({ type: "iam.account_associations.created.v1", ...associations("AccountAssociation"), group: uid }),
  );
  await life.call("PATCH", `/iam/v2beta1/accountAssociations/${team.uid}`, { description: "d" }, ({ uid }) => ({
    type: "iam.account_associations.updated.v1",
    ...associations("AccountAssociation"),
    group: uid,
  }));
  await life.call("DELETE", `/iam/v2beta1/accountAssociations/${team.uid}`, undefined, () => ({
    type: "iam.account_associations.deleted.v1",
    ...associations("DeleteAccountAssociationRequest"),
    subject: team.uid,
    group: team.uid,
    body: undefined,
  }));

  await life.call("POST", `/iam/v2beta1/terms/${root}`, { documentIds: ["eula", "privacy"] }, () => ({
    type: "iam.terms.accepted.v1",
    ...iam("terms", "AcceptTermsResponse"),
    subject: root,
    group: root,
  }));

  await providerOfToday(life, root);

  const repos = (message: string) => registry("repos", message);
  const repo = await life.call("POST", `/registry/v2beta1/repos/${team.uid}`, { name: "app" }, () => ({
    type: "platform.registry.repo.created.v1",
    ...repos("Repo"),
  }));
  await life.call("PATCH", `/registry/v2beta1/repos/${repo.uid}`, { description: "d" }, () => ({
    type: "platform.registry.repo.updated.v1",
    ...repos("Repo"),
  }));
  await life.call("PATCH", `/registry/v2beta1/repos/${repo.uid}/readme`, { content: "# App" }, () => ({
    type: "platform.registry.repo.updated.v1",
    ...repos("RepoReadme"),
  }));
  const tags = (message: string) => registry("tags", message);
  const digest = `sha256:${"a".repeat(64)}`;
  const tag = await life.call("POST", `/registry/v2beta1/tags/${repo.uid}`, { name: "1.0", digest }, () => ({
    type: "platform.registry.tag.created.v1",
    ...tags("Tag"),
    group: root,
  }));
  await life.call("DELETE", `/registry/v2beta1/tags/${tag.uid}`, undefined, () => ({
    type: "platform.registry.tag.deleted.v1",
    ...tags("DeleteTagRequest"),
    subject: tag.uid,
    group: root,
    body: { uid: tag.uid },
  }));
  await life.call("POST", `/registry/v2beta1/tags/${repo.uid}`, { name: "1.1", digest }, () => ({
    type: "platform.registry.tag.created.v1",
    ...tags("Tag"),
    group: root,
  }));
  // Its tag goes with it, untold.
  await life.call("DELETE", `/registry/v2beta1/repos/${repo.uid}`, undefined, () => ({
    type: "platform.registry.repo.deleted.v1",
    ...repos("DeleteRepoRequest"),
    subject: repo.uid,
    body: { uid: repo.uid },
  }));

  for (const [name, one, kind] of [
    ["identities", identity, "identity"],
    ["roles", role, "roles"],
    ["groups", team, "group"],
  ] as const) {
    const message = `Delete${name[0]!.toUpperCase()}${name.slice(1).replace(/(ie)?s$/, (end) => (end === "ies" ? "y" : ""))}Request`;
    await life.call("DELETE", `/iam/v2beta1/${name}/${one.uid}`, undefined, () => ({
      type: `iam.${kind}.deleted.v1`,
      ...iam(name, message),
      subject: one.uid,
      body: { uid: one.uid },
    }));
  }
}

async function providerOfToday(life: Life, root: string): Promise<void> {
  const at = "/iam/v2beta1/identityProviders";
  const providers = (message: string) => ({ source: at, bodytype: `iam.v2beta1.${message}` });
  const oidc = { issuer: "https://idp.example.org", clientId: "c", clientSecret: "hush", groupsClaim: "groups" };
  const provider = await life.call(
    "POST",
    `${at}/${root}`,
    { name: "idp", defaultRole: viewer, oidc },
    ({ createTime, updateTime, ...shown }) => ({
      type: "iam.identity_providers.created.v1",
      ...providers("IdentityProvider"),
      body: shown,
    }),
  );
  await life.call("PATCH", `${at}/${provider.uid}`, { description: "d" }, ({ createTime, updateTime, ...shown }) => ({
    type: "iam.identity_providers.updated.v1",
    ...providers("IdentityProvider"),
    body: shown,
  }));

  const subject = provider.uid;
  const scim = (event: string, message: string, body: unknown) => ({
    type: `iam.identity_providers.${event}.v1`,
    ...providers(message),
    subject,
    body,
  });
  const generated = await life.call("POST", `${at}/${subject}:generateScimToken`, {}, ({ token, ...shown }) =>
    scim("scim_token.generated", "GenerateScimTokenResponse", shown),
  );
  await life.call(
    "POST",
    `${at}/${subject}:regenerateScimToken`,
    { etag: generated.etag },
    // Only the request has the length of the overlap.
    ({ token, requestedOverlap, ...shown }) => scim("scim_token.regenerated", "RegenerateScimTokenResponse", shown),
  );
  const revoked = await life.call("POST", `${at}/${subject}:revokeScimToken`, {}, (shown) =>
    scim("scim_token.revoked", "RevokeScimTokenResponse", shown),
  );
  await life.call("POST", `${at}/${subject}:setScimEnabled`, { enabled: true, etag: revoked.etag }, (shown) =>
    scim("scim_enabled.updated", "SetScimEnabledResponse", shown),
  );

  const mappings = (message: string) => ({
    source: "/iam/v2beta1/externalGroupRoleMappings",
    bodytype: `iam.v2beta1.${message}`,
    group: root,
  });
  const create = (externalGroupId: string) =>
    life.call(
      "POST",
      `/iam/v2beta1/externalGroupRoleMappings/${subject}`,
      { externalGroupId, roleUid: viewer, scope: root },
      () => ({ type: "iam.external_group_role_mappings.created.v1", ...mappings("ExternalGroupRoleMapping") }),
    );
  const [one, two, three] = [await create("a"), await create("b"), await create("c")];
  await life.call("DELETE", `/iam/v2beta1/externalGroupRoleMappings/${one.uid}`, undefined, () => ({
    type: "iam.external_group_role_mappings.deleted.v1",
    ...mappings("DeleteExternalGroupRoleMappingRequest"),
    subject: one.uid,
    body: { uid: one.uid },
  }));
  await life.call(
    "POST",
    "/iam/v2beta1/externalGroupRoleMappings:batchDelete",
    { parent: subject, names: [two.uid, three.uid] },
    () => ({
      type: "iam.external_group_role_mappings.deleted.batch.v1",
      group: root,
      subject,
      source: "/iam/v2beta1/externalGroupRoleMappings:batchDelete",
      bodytype: "iam.v2beta1.BatchDeleteExternalGroupRoleMappingsResponse",
    }),
  );
  await life.call("DELETE", `${at}/${subject}`, undefined, () => ({
    type: "iam.identity_providers.deleted.v1",
    ...providers("DeleteIdentityProviderRequest"),
    subject,
    body: { uid: subject },
  }));
}

async function livesOfVersion1(life: Life, root: string): Promise<void> {
  const iam = (service: string, message: string) => ({ source: `/iam/v1/${service}`, bodytype: `iam.${message}` });
  const team = await life.call("POST", `/iam/v1/groups/${root}`, { name: "former" }, ({ id }) => ({
    type: "iam.group.created.v1",
    ...iam("groups", "Group"),
    group: id,
  }));
  const claimMatch = { issuer: "https://issuer.example.org", subject: "t" };
  const identity = await life.call("POST", `/iam/v1/identities/${team.id}`, { name: "ci", claimMatch }, () => ({
    type: "iam.identity.created.v1",
    ...iam("identities", "Identity"),
  }));
  const roleBindings = [viewer, editor].map((role) => ({ identity: identity.id, role }));
  await life.call("POST", `/iam/v1/rolebindings/batch/${team.id}`, roleBindings, ({ roleBindings: made }) => ({
    type: "iam.rolebindings.created.batch.v1",
    ...iam("rolebindings/batch", "RoleBindingBatch"),
    group: team.id,
    subject: made.map(({ id }: { id: string }) => id).join(),
  }));
  const repo = await life.call("POST", `/registry/v1/repos/${team.id}`, { name: "app" }, () => ({
    type: "platform.registry.repo.created.v1",
    source: "/registry/v1/repos",
    bodytype: "registry.Repo",
  }));
  const digest = `sha256:${"a".repeat(64)}`;
  const tag = await life.call("POST", `/registry/v1/tags/${repo.id}`, { name: "1", digest }, () => ({
    type: "platform.registry.tag.created.v1",
    source: "/registry/v1/tags",
    bodytype: "registry.Tag",
    group: root,
  }));
  await life.call("PUT", `/registry/v1/tags/${tag.id}`, { name: "1", digest, deprecated: true }, () => ({
    type: "platform.registry.tag.updated.v1",
    source: "/registry/v1/tags",
    bodytype: "registry.Tag",
    group: root,
  }));
  await life.call("DELETE", `/registry/v1/repos/${repo.id}`, undefined, () => ({
    type: "platform.registry.repo.deleted.v1",
    source: "/registry/v1/repos",
    bodytype: "registry.DeleteRepoRequest",
    subject: repo.id,
    body: { id: repo.id },
  }));
  const subscription = await life.call(
    "POST",
    `/events/v1/subscriptions/${team.id}`,
    { sink: "https://sink.invalid/" },
    () => ({
      type: "events.subscription.created.v1",
      source: "/events/v1/subscriptions",
      bodytype: "events.Subscription",
    }),
  );
  await life.call("DELETE", `/events/v1/subscriptions/${subscription.id}`, undefined, () => ({
    type: "events.subscription.deleted.v1",
    source: "/events/v1/subscriptions",
    bodytype: "events.DeleteSubscriptionRequest",
    subject: subscription.id,
    body: undefined,
  }));
}

after(stopPostgres);

for (const database of databases) {
  describe(`events (${database})`, () => {
    it("report each change once, in order, with the response of the method", async () => {
      await using sink = await openSink();
      const settings = { termsDocuments: "eula,privacy" };
      await using server = await startSendingServer({ database, settings });
      const root = server.groupUid;
      // Provisioning can be enabled where there are two owners.
      await bind(server, root, await addIdentity(server, root), ownerRole.uid);
      const life = new Life(server);
      await life.call("POST", `/events/v2beta1/subscriptions/${root}`, { sink: `${sink.url}/hook` }, () => ({
        type: "events.subscription.created.v1",
        source: "/events/v2beta1/subscriptions",
        bodytype: "events.v2beta1.Subscription",
      }));
      // An event shows data of other rows as of the time when the log is read. These rows must exist until then.
      const isTold = async () => void (await sink.wait(life.expected.length));
      await livesOfToday(life, root, isTold);
      await livesOfVersion1(life, root);
      const received = await sink.wait(life.expected.length);

      const told = received.map(({ headers, body }) => {
        const event = HTTP.toEvent({ headers: headers as Record<string, string>, body }) as CloudEvent<unknown>;
        assert.equal((event.validate as () => boolean).call(event), true);
        const { actor, body: shown } = event.data as { actor: { subject: string; act: object }; body: unknown };
        assert.equal(actor.subject, server.ownerUid);
        assert.equal((actor.act as { iss: string }).iss, "https://issuer.example.org");
        const { type, source, subject, group, bodytype } = event as unknown as Told;
        return { type, source, subject, group, bodytype, body: shown };
      });
      assert.deepEqual(
        told.map(({ type }) => type),
        life.expected.map(({ type }) => type),
      );
      for (const [i, one] of told.entries()) assert.deepEqual(one, life.expected[i]);
      const all = received.map(({ body }) => body).join();
      for (const secret of ["hush", "cgscim_", "a@example.org"]) assert.ok(!all.includes(secret), secret);
      assert.equal(new Set(received.map(({ headers }) => headers["ce-id"])).size, received.length);
    });
  });
}

describe("the annotations of methods", () => {
  it("match the defined events", () => {
    const api = composeUncalled();
    const annotated: string[] = [];
    const defined: string[] = [];
    const borrowed: string[] = [];
    for (const { path, descriptor } of api.methods.values()) {
      // Version 2 is v2beta1, whose methods are what the log has.
      if (/^\/chainguard\.platform\.[a-z]+\.v2\./.test(path)) continue;
      const isForCustomers =
        hasOption(descriptor, eventOption) &&
        getOption(descriptor, eventOption).audience === EventAttributes_Audience.CUSTOMER;
      const event = api.eventOf(path);
      if (isForCustomers) annotated.push(path);
      // A method of our own that does what a published one does has the event of that one.
      if (event && !hasOption(descriptor, eventOption)) borrowed.push(event.type);
      else if (event) defined.push(path);
    }
    assert.ok(annotated.length >= 75, `only ${annotated.length} methods have an event`);
    assert.deepEqual(defined, annotated);
    const types = new Set(annotated.map((path) => api.eventOf(path)!.type));
    assert.ok(borrowed.length >= 3, `only ${borrowed.length} methods have the event of another one`);
    assert.deepEqual(
      borrowed.filter((type) => !types.has(type)),
      [],
    );
  });
});
