// Tests of findings in an organization: contents, order, and who sees them.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { databases } from "../../harness/databases.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { addCaller, addGroup, addRole, ownerRole, viewerRole } from "../../security/tree.ts";
import { addFindingExamples, type FindingExamples } from "./finding-examples.ts";

const kinds = ["FAILING_DELIVERY", "EXPIRING_KEYS", "INACTIVE_DELEGATION", "CONFINED_BINDING", "UNUSED_IDENTITY"];

for (const database of databases) {
  describe(`findings (${database})`, () => {
    let server: TestServer;
    let root: string;
    let folder: string;
    let owner: { uid: string; token: string };
    let made: FindingExamples;

    before(async () => {
      server = await startTestServer({ database });
      root = await addGroup(server, null, "example.org");
      folder = await addGroup(server, root, "folder");
      owner = await addCaller(server, root, ownerRole.uid);
      made = await addFindingExamples(server, root, folder);
    });
    after(() => server[Symbol.asyncDispose]());

    async function call(token: string, method: string, path: string, request?: unknown) {
      const { status, body } = await rest(server.url, token, method, path, request);
      assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
      return body;
    }

    function list(query: Record<string, string> = {}, token = owner.token) {
      const path = `/gatehouse/organizations/v1/findings?${new URLSearchParams({ parent: root, ...query })}`;
      return call(token, "GET", path);
    }

    interface Shown {
      readonly kind: string;
      readonly resourceUid: string;
    }
    const found = ({ findings = [] }: { findings?: Shown[] }) =>
      findings.map(({ kind, resourceUid }) => [kind.replace("FINDING_KIND_", ""), resourceUid]);
    const all = () => [
      ["FAILING_DELIVERY", made.subscription],
      ["EXPIRING_KEYS", made.key],
      ["INACTIVE_DELEGATION", made.invite],
      ["CONFINED_BINDING", made.confined],
      ["UNUSED_IDENTITY", made.unused],
      ["PAUSED_SUBSCRIPTION", made.paused],
    ];

    it("lists one of each kind, in the order of the kinds, with counts and the total", async () => {
      const body = await list();
      assert.deepEqual(found(body), all());
      assert.equal(body.totalCount, "6");
      assert.deepEqual(
        body.counts,
        [
          ["BREAK_GLASS_UNACKNOWLEDGED", "0"],
          ...kinds.map((kind) => [kind, "1"]),
          ["DEACTIVATED_PERSON", "0"],
          ["PAUSED_SUBSCRIPTION", "1"],
          ["REUSED_NAME", "0"],
          ["UNPINNED_NAME", "0"],
          ["BROAD_RULE", "0"],
          ["UNUSED_BINDING", "0"],
          ["TWIN", "0"],
        ].map(([kind, count]) => ({
          kind: `FINDING_KIND_${kind}`,
          count,
          isMinimum: false,
        })),
      );
    });

    it("a finding has its resource, group, time and reason", async () => {
      const [delivery, key, invite, binding, unused, paused] = (await list()).findings;
      for (const one of [delivery, key, invite, unused, paused])
        assert.deepEqual([one.groupUid, one.groupName], [folder, "folder"]);
      for (const one of [delivery, key, invite, binding, unused, paused]) assert.ok(one.time);
      assert.equal(delivery.resourceName, "https://example.org/");
      assert.equal(delivery.deliveryState.failedAttempts, 23);
      assert.equal(delivery.deliveryState.lastFailure, "HTTP 503");
      assert.equal(key.resourceName, "ends soon");
      assert.ok(Date.parse(key.time) > server.clock());
      assert.equal(invite.delegation.inactivity, "INACTIVITY_REASON_MAKER_LACKS_CAPABILITIES");
      assert.equal(invite.delegation.makerUid, invite.identity.uid);
      assert.equal(invite.resourceName, "guest@example.com");
      assert.equal(binding.identity.name, "bot");
      assert.equal(binding.roleBinding.roleName, "viewer");
      assert.deepEqual([binding.groupUid, binding.groupName], [root, "example.org"]);
      assert.equal(unused.resourceName, "unused");
      assert.deepEqual([paused.resourceName, paused.deliveryState.droppedEvents], ["https://example.org/", 7]);
    });

    it("is read in pages, with kinds or without, and skips across kinds", async () => {
      const read: unknown[] = [];
      for (let pageToken = "", first = true; first || pageToken !== ""; first = false) {
        const body = await list({ pageSize: "2", pageToken });
        read.push(...found(body));
        pageToken = body.nextPageToken ?? "";
      }
      assert.deepEqual(read, all());
      for (const skip of [0, 1, 3, 6, 9]) assert.deepEqual(found(await list({ skip: `${skip}` })), all().slice(skip));
      const { nextPageToken } = await list({ pageSize: "1" });
      assert.deepEqual(found(await list({ pageToken: nextPageToken, skip: "2" })), all().slice(3));
      const only = await list({ kinds: "FINDING_KIND_CONFINED_BINDING" });
      assert.deepEqual(found(only), [all()[3]]);
      assert.equal(only.totalCount, "1");
    });

    it("findings are limited to the group and its subgroups", async () => {
      assert.deepEqual(found(await list({ parent: folder })), all().toSpliced(3, 1));
      assert.deepEqual(found(await list({ parent: await addGroup(server, root) })), []);
    });

    it("shows each kind only to callers who may list it, and counts nothing else", async () => {
      const lists = [
        [Capability.CAP_EVENTS_SUBSCRIPTION_LIST, [0, 5], 2],
        [Capability.CAP_IAM_IDENTITY_LIST, [1, 4], 5],
        [Capability.CAP_IAM_ROLE_BINDINGS_LIST, [2, 3], 5],
      ] as const;
      for (const [capability, places, listedKinds] of lists) {
        const { token } = await addCaller(server, root, await addRole(server, root, [capability]));
        const body = await list({}, token);
        assert.deepEqual(
          found(body),
          places.map((place) => all()[place]),
        );
        assert.equal(body.counts.length, listedKinds);
        for (const finding of body.findings) assert.ok(!finding.groupName);
        const recipient = body.findings.find(({ resourceUid }: Shown) => resourceUid === made.invite)?.resourceName;
        assert.notEqual(recipient, "guest@example.com");
      }
      const stranger = await addCaller(server, await addGroup(server, null, "other"), ownerRole.uid);
      const { findings, counts, totalCount } = await list({}, stranger.token);
      assert.deepEqual([findings, counts, totalCount], [[], [], "0"]);
    });

    it("a caller in a subgroup sees the findings of the subgroup", async () => {
      const { token } = await addCaller(server, folder, viewerRole.uid);
      assert.deepEqual(found(await list({}, token)), all().toSpliced(3, 1));
    });

    it("rejects unknown kinds, and page tokens of another query", async () => {
      const { nextPageToken } = await list({ pageSize: "1" });
      for (const [field, query] of [
        ["kinds", { kinds: "FINDING_KIND_UNSPECIFIED" }],
        ["page_token", { pageToken: nextPageToken, parent: folder }],
        ["parent", { parent: "nonsense" }],
        ["skip", { skip: "-1" }],
      ] as const) {
        const path = `/gatehouse/organizations/v1/findings?${new URLSearchParams({ parent: root, ...query })}`;
        const { status, body } = await rest(server.url, owner.token, "GET", path);
        assert.equal(status, 400, field);
        assert.ok(JSON.stringify(body).includes(field), JSON.stringify(body));
      }
    });
  });
}
