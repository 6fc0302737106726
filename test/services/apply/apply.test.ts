// Applies lists of resources through the API.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Code } from "../../../src/aip/errors.ts";
import { applyLimits, requireFewChanges } from "../../../src/services/apply/limits.ts";
import { lastChange, readChanges } from "../../../src/storage/change-log/change-log.ts";
import { type ApiClient, openApiClient } from "../../harness/api-clients.ts";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { casesOf, isQuick } from "../../harness/quick.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { addCaller, addIdentity, ownerRole } from "../../security/tree.ts";
import { largeOrganization, smallOrganization } from "./generated.ts";

after(stopPostgres);

const apply = "/gatehouse.apply.v1.ApplyService/ApplyResources";
const destroy = "/gatehouse.apply.v1.ApplyService/DestroySubtree";
const read = "/gatehouse.apply.v1.ApplyService/ExportResources";

interface Change {
  readonly action: string;
  readonly kind: string;
  readonly name: string;
  readonly uid?: string;
  readonly index?: number;
  readonly fields?: readonly { readonly field: string; readonly oldValue?: string; readonly newValue?: string }[];
  readonly reason?: string;
}

interface Applied {
  readonly groupUid: string;
  readonly changes: readonly Change[];
  readonly unchangedCount: number;
  readonly plan: string;
}

for (const database of databases) {
  describe(`applying resources on ${database}`, () => {
    let server: TestServer;
    let client: ApiClient;
    before(async () => {
      server = await startTestServer({ database });
      client = openApiClient("grpc", server.url);
    });
    after(async () => {
      client[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    });

    async function outcome(method: string, request: JsonObject, token = server.ownerToken) {
      return await client.call(token, method, request);
    }

    async function applied(request: JsonObject, token?: string): Promise<Applied> {
      const found = await outcome(apply, request, token);
      assert.ok("response" in found, JSON.stringify(found));
      const { groupUid = "", changes = [], unchangedCount = 0, plan = "" } = found.response as Partial<Applied>;
      return { groupUid, changes, unchangedCount, plan };
    }

    async function failure(request: JsonObject, token?: string): Promise<string> {
      const found = await outcome(apply, request, token);
      assert.ok(!("response" in found), "the apply succeeded");
      return JSON.stringify(found);
    }

    async function resourcesOf(groupUid: string, kinds: string[] = []): Promise<JsonObject[]> {
      const found = await outcome(read, { groupUid, kinds });
      assert.ok("response" in found, JSON.stringify(found));
      return (found.response as { resources: JsonObject[] }).resources;
    }

    const position = () => lastChange(server.server.database.session);

    it("plans and dry runs of applies and deletions run while another write holds the write lock", async () => {
      const { groupUid } = await applied({ resources: smallOrganization("locked") });
      const resources = [...smallOrganization("locked"), { group: { name: "more" } }];
      const { promise: isTooLate, resolve: release } = Promise.withResolvers<void>();
      const timer = setTimeout(release, 10_000);
      let isHeld = true;
      const context = { actor: "", method: "test", requestId: "", time: server.clock(), isAlone: true };
      const holder = server.server.database.write(context, async () => {
        const work = applied({ groupUid, resources, planOnly: true })
          .then(() => applied({ groupUid, resources, validateOnly: true }))
          .then(() => outcome(destroy, { groupUid, validateOnly: true }));
        await Promise.race([work.then(() => (isHeld = false)), isTooLate]);
      });
      await holder;
      clearTimeout(timer);
      assert.equal(isHeld, false, "they waited for the other write");
    });

    it("creates an organization, which is read back equal, and changes nothing the second time", async () => {
      const resources = smallOrganization("acme");
      const first = await applied({ resources });
      assert.equal(first.changes.length, resources.length);
      assert.ok(first.changes.every(({ action }) => action === "PLANNED_ACTION_CREATE"));
      const stored = await resourcesOf(first.groupUid);
      const before = await position();
      const second = await applied({ groupUid: first.groupUid, resources });
      assert.deepEqual(second.changes, []);
      assert.equal(second.unchangedCount, resources.length);
      const third = await applied({ groupUid: first.groupUid, resources: stored, prune: true });
      assert.deepEqual(third.changes, []);
      assert.equal(await position(), before, "nothing was written");
      // Under another name, the resources make an equal organization.
      const copy = stored.map((each) =>
        "organization" in each ? { organization: { name: "acme copy", description: "Anvils" } } : each,
      );
      const other = await applied({ resources: copy });
      assert.deepEqual((await resourcesOf(other.groupUid)).map(textOf).sort(), copy.map(textOf).sort());
    });

    it("has an entry in the change log for each change, with the method of the single call", async () => {
      const before = await position();
      await applied({ resources: [{ organization: { name: "logged" } }, { group: { name: "team" } }] });
      const changes = await readChanges(server.server.database.session, before, 10);
      assert.deepEqual(
        changes.map(({ kind, method, actor }) => [kind, method.split("/").at(-1), actor === server.ownerUid]),
        [
          ["groups", "CreateGroup", true],
          ["role_bindings", "CreateGroup", true],
          ["groups", "CreateGroup", true],
        ],
      );
    });

    it("updates what differs, and only that", async () => {
      const { groupUid } = await applied({ resources: smallOrganization("updated") });
      const resources = smallOrganization("updated");
      const at = (kind: string) => resources.find((each) => kind in each)![kind] as JsonObject;
      at("group").description = "Makers";
      at("role").capabilities = ["groups.list"];
      (at("identityProvider").oidc as JsonObject).groupsClaim = "teams";
      at("accountAssociation").serviceBindings = {};
      const { changes } = await applied({ groupUid, resources });
      assert.deepEqual(
        changes.map(({ action, name, fields }) => [action, name, fields?.map(({ field }) => field)]),
        [
          ["PLANNED_ACTION_UPDATE", "engineering", ["description"]],
          ["PLANNED_ACTION_UPDATE", "deployer", ["capabilities"]],
          ["PLANNED_ACTION_UPDATE", "login", ["oidc.groups_claim"]],
          ["PLANNED_ACTION_UPDATE", "clouds", ["service_bindings"]],
        ],
      );
      assert.deepEqual((await applied({ groupUid, resources })).changes, []);
    });

    it("a client secret in the resources is set when the issuer of its identity provider changes, and not again after that", async () => {
      const at = (issuer: string) => [
        { organization: { name: "secrets" } },
        {
          identityProvider: {
            name: "sso",
            defaultRole: "viewer",
            oidc: { issuer, clientId: "acme", clientSecret: "secret" },
          },
        },
      ];
      const { groupUid } = await applied({ resources: at("https://one.example.org") });
      const change = { groupUid, resources: at("https://two.example.org") };
      const { changes } = await applied(change);
      assert.deepEqual(
        changes.map(({ name, fields }) => [name, fields?.map(({ field }) => field)]),
        [["sso", ["oidc.issuer", "oidc.client_secret"]]],
      );
      assert.deepEqual((await applied(change)).changes, []);
    });

    it("validates without writing, and fails if the plan changed since", async () => {
      const { groupUid } = await applied({ resources: smallOrganization("planned") });
      const resources = [...smallOrganization("planned"), { group: { name: "research" } }];
      const before = await position();
      const { plan, changes } = await applied({ groupUid, resources, validateOnly: true });
      assert.equal(changes.length, 1);
      assert.equal(await position(), before);
      await applied({ groupUid, resources: [{ group: { name: "research" } }] });
      assert.equal((await outcome(apply, { groupUid, resources, expectedPlan: plan })).code, Code.ABORTED);
    });

    it("changes nothing if one resource is rejected, and says which", async () => {
      const { groupUid } = await applied({ resources: smallOrganization("whole") });
      const before = await position();
      const missing = [{ group: { name: "new" } }, { roleBinding: { identity: "nobody", role: "viewer" } }];
      assert.match(await failure({ groupUid, resources: missing }), /resources\[1\]\.role_binding\.identity/);
      const invalid = [{ group: { name: "new" } }, { repo: { name: "NO" } }];
      assert.match(await failure({ groupUid, resources: invalid }), /resources\[1\]\.repo\.name/);
      const twice = [{ group: { name: "new" } }, { group: { name: "new" } }];
      assert.match(await failure({ groupUid, resources: twice }), /is the same resource as resources\[0\]/);
      const both = ["one", "two"].map((name) => ({ organization: { name } }));
      assert.match(
        await failure({ resources: both }),
        /a request is for one organization, and resources\[0\] names it/,
      );
      // Only the database knows that this is one too many.
      const sinks = Array.from({ length: 101 }, (_, i) => ({
        subscription: { sink: `https://hooks.example.org/${i}` },
      }));
      const failed = await failure({ groupUid, resources: [{ group: { name: "new" } }, ...sinks] });
      assert.match(failed, /at most 100 subscriptions.*resources\[101\]/);
      assert.equal(await position(), before, "nothing was written");
    });

    it("prunes what the resources do not have, and keeps the last owner binding of the caller", async () => {
      const { groupUid } = await applied({ resources: smallOrganization("pruned") });
      const resources = [{ organization: { name: "pruned", description: "Anvils" } }];
      const all = ["ROLE_BINDING", "SUBSCRIPTION", "REPO", "ROLE", "IDENTITY", "GROUP", "IDENTITY_PROVIDER"];
      const pruneKinds = [...all, "EXTERNAL_GROUP_ROLE_MAPPING", "ACCOUNT_ASSOCIATION"].map(
        (kind) => `SPEC_KIND_${kind}`,
      );
      const { changes } = await applied({ groupUid, resources, prune: true, pruneKinds });
      assert.equal(changes.filter(({ action }) => action === "PLANNED_ACTION_DELETE").length, 14);
      const kept = changes.filter(({ action }) => action === "PLANNED_ACTION_KEEP");
      assert.deepEqual(
        kept.map(({ reason }) => reason),
        ["it is your last role binding as owner"],
      );
      assert.deepEqual(
        (await resourcesOf(groupUid)).map((each) => Object.keys(each)[0]),
        ["organization", "roleBinding"],
      );
    });

    it("keeps the identity of the caller when it prunes identities that the resources do not have", async () => {
      const resources = [{ organization: { name: "own-identity" } }];
      const { groupUid } = await applied({ resources });
      const other = await addIdentity(server, groupUid, { name: "other" });
      const { uid, token } = await addCaller(server, groupUid, ownerRole.uid);
      const { changes } = await applied(
        { groupUid, resources, prune: true, pruneKinds: ["SPEC_KIND_IDENTITY"] },
        token,
      );
      const decisions = changes.map((change) => [change.action, change.uid, change.reason ?? ""]);
      assert.deepEqual(decisions.toSorted(), [
        ["PLANNED_ACTION_DELETE", other, ""],
        ["PLANNED_ACTION_KEEP", uid, "it is your identity"],
      ]);
    });

    it("exports some kinds as it exports all", async () => {
      const { groupUid } = await applied({ resources: smallOrganization("some-kinds") });
      const all = await resourcesOf(groupUid);
      const kinds = ["SPEC_KIND_ROLE_BINDING", "SPEC_KIND_ACCOUNT_ASSOCIATION", "SPEC_KIND_IDENTITY_PROVIDER"];
      const fields = ["roleBinding", "accountAssociation", "identityProvider"];
      for (const [i, field] of fields.entries()) {
        const some = await resourcesOf(groupUid, [kinds[i]!]);
        assert.ok(some.length > 0, field);
        assert.deepEqual(
          some,
          all.filter((each) => field in each),
        );
      }
    });

    it("prunes nothing while several resources share a path, and names each of them", async () => {
      const kept = [{ group: { name: "kept" } }];
      const { groupUid } = await applied({ resources: [{ organization: { name: "twins" } }, ...kept] });
      const twins: string[] = [];
      for (const name of ["twin", "twin"]) {
        const made = await outcome("/chainguard.platform.iam.v2beta1.GroupsService/CreateGroup", {
          parent: groupUid,
          group: { name },
        });
        assert.ok("response" in made, JSON.stringify(made));
        twins.push((made.response as { uid: string }).uid);
      }
      assert.deepEqual((await applied({ groupUid, resources: kept })).changes, []);
      const before = await position();
      for (const options of [{}, { validateOnly: true }, { pruneKinds: ["SPEC_KIND_ROLE"] }]) {
        const text = await failure({ groupUid, resources: kept, prune: true, ...options });
        assert.match(text, /2 resources share their paths; rename all but one of each path/);
        assert.equal(text.split('"AMBIGUOUS_NAME"').length - 1, twins.length, text);
        for (const uid of twins) assert.ok(text.includes(`"subject":"${uid}"`), text);
      }
      assert.equal(await position(), before, "nothing was written");
    });

    it("prunes only the groups and kinds that the resources have", async () => {
      const { groupUid } = await applied({ resources: smallOrganization("parts") });
      const resources = [
        { group: { group: "engineering", name: "platform" } },
        { repo: { group: "engineering/platform", name: "web" } },
      ];
      const { changes } = await applied({ groupUid, resources, prune: true });
      assert.deepEqual(
        changes.map(({ action, name }) => [action, name]),
        [
          ["PLANNED_ACTION_CREATE", "engineering/platform/web"],
          ["PLANNED_ACTION_DELETE", "engineering/platform/api"],
        ],
      );
    });

    // One large run shows what grows too fast with the number of resources.
    const part = database === "postgres" ? 1 : 0.1;
    it(`applies ${5_000 * part} resources, and changes nothing the second time`, async () => {
      const resources = largeOrganization("large", {
        groups: 500 * part,
        roles: 20 * part,
        identities: 1_200 * part,
        repos: 1_280 * part,
        bindings: 2_000 * part - 1,
      });
      assert.equal(resources.length, 5_000 * part);
      const { groupUid } = await applied({ resources });
      assert.deepEqual((await applied({ groupUid, resources })).changes, []);
    });

    // If each deletion took longer than the one before, the deadline would come first.
    const count = casesOf(900, 9_900);
    it(`deletes ${count} groups within the deadline of a call, and rejects more than it may delete`, async () => {
      const groups = Array.from({ length: count }, (_, i) => ({ group: { name: `group-${i}` } }));
      const { groupUid } = await applied({ resources: [{ organization: { name: "wide" } }, ...groups] });
      const last = { group: { name: "last" } };
      const further = Array.from({ length: 100 }, (_, i) => ({ group: { name: `group-${i}`, group: "last" } }));
      const { changes } = await applied({ groupUid, resources: [last, ...further] });
      const tooMany = JSON.stringify(await outcome(destroy, { groupUid, validateOnly: isQuick }));
      if (!isQuick)
        assert.match(tooMany, /TOO_MANY_RESOURCES.*the request changes 10002 resources, and may change 10000/);
      const { uid = "" } = changes.find(({ name }) => name === "last")!;
      assert.ok("response" in (await outcome(destroy, { groupUid: uid })));
      const deleted = await outcome(destroy, { groupUid });
      assert.ok("response" in deleted, JSON.stringify(deleted));
      assert.equal((deleted.response as { counts: Record<string, number> }).counts.groups, count + 1);
    });
  });
}

describe("the limit of what one request changes", () => {
  it("a request may change as many resources as the limit says, and not one more", () => {
    const { changes } = applyLimits;
    requireFewChanges(changes, "group");
    assert.throws(() => requireFewChanges(changes + 1, "group"), /changes 10001 resources, and may change 10000/);
  });
});

function textOf(resource: JsonObject): string {
  return JSON.stringify(resource);
}
