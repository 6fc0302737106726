// Searches of AuthZEN through the wire: what they find, their pages, and what they do not say about other organizations.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { newChild, newRoot } from "../../src/model/uid.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addRepo } from "../security/registry-tree.ts";
import { addCaller, addGroup, addIdentity, addPerson, addRole, bind, ownerRole, viewerRole } from "../security/tree.ts";
import { ask } from "./ask.ts";

after(stopPostgres);

const nothing = { page: { next_token: "", count: 0, total: 0 }, results: [] };

for (const database of databases) {
  describe(`searches of AuthZEN on ${database}`, () => {
    let server: TestServer;
    let gateway: { uid: string; token: string };
    let group: string;
    let below: string;
    let repos: string[];
    let role: string;
    let ci: string;
    let ana: string;
    let foreign: { group: string; repo: string; workload: string };
    before(async () => {
      server = await startTestServer({ database });
      group = await addGroup(server, server.groupUid, "engineering");
      below = await addGroup(server, group, "platform");
      repos = (await Promise.all([group, below, group].map((parent) => addRepo(server, parent)))).sort();
      role = await addRole(server, group, [Capability.CAP_REPO_UPDATE, Capability.CAP_REPO_LIST]);
      ci = await addIdentity(server, group);
      await bind(server, group, ci, role);
      ana = await addPerson(server, "ana", "ana@example.org", server.groupUid);
      await bind(server, below, ana, role);
      gateway = await addCaller(server, server.groupUid, viewerRole.uid);
      const other = await addGroup(server, null, "other.example");
      const workload = (await addCaller(server, other, ownerRole.uid)).uid;
      foreign = { group: other, repo: await addRepo(server, other), workload };
    });
    after(() => server[Symbol.asyncDispose]());

    const search = (kind: string, body: object, token = gateway.token) => ask(server, token, `search/${kind}`, body);
    const found = async (kind: string, body: object, token = gateway.token) => {
      const { status, body: response, text } = await search(kind, body, token);
      assert.equal(status, 200, text);
      assert.equal(response.page.count, response.results.length);
      return response;
    };
    const idsOf = ({ results }: { results: readonly { id: string }[] }) => results.map(({ id }) => id);
    const entity = (type: string, id?: string) => ({ type, ...(id !== undefined && { id }) });
    const subjects = (type: string, name: string, resource: object, more: object = {}) => ({
      subject: entity(type),
      action: { name },
      resource,
      ...more,
    });
    const resources = (subject: object, name: string, type: string, more: object = {}) => ({
      subject,
      action: { name },
      resource: entity(type),
      ...more,
    });
    const updaters = () => subjects("identity", "repo.update", entity("group", below));

    it("a search for subjects finds people as users, and people and workloads as identities", async () => {
      const all = await found("subject", updaters());
      assert.deepEqual(all, {
        page: { next_token: "", count: 3, total: 3 },
        results: [ci, ana, server.ownerUid].sort().map((id) => entity("identity", id)),
      });
      const people = await found("subject", { ...updaters(), subject: entity("user") });
      assert.deepEqual(people.results, [entity("user", ana)]);
      assert.deepEqual(
        idsOf(await found("subject", subjects("identity", "repo.update", entity("repo", repos[0]!)))).includes(ci),
        true,
      );
      const byPath = subjects("identity", "repo.update", entity("group", "example.org/engineering/platform"));
      assert.deepEqual(await found("subject", byPath), all);
    });

    it("a search for resources finds them at the places of role bindings and below", async () => {
      const at = async (subject: object, name: string, type: string) =>
        (await found("resource", resources(subject, name, type))).results;
      const workload = entity("identity", ci);
      assert.deepEqual(
        await at(workload, "repo.update", "repo"),
        repos.map((id) => entity("repo", id)),
      );
      assert.deepEqual(
        await at(workload, "repo.update", "group"),
        [group, below].map((id) => entity("group", id)),
      );
      assert.deepEqual(await at(workload, "repo.update", "identity"), [entity("identity", ci)]);
      assert.deepEqual(await at(workload, "repo.update", "role"), [entity("role", role)]);
      assert.deepEqual(await at(workload, "repo.delete", "repo"), []);
      const inBelow = repos.filter((uid) => uid.startsWith(`${below}/`));
      assert.deepEqual(
        await at(entity("user", ana), "repo.update", "repo"),
        inBelow.map((id) => entity("repo", id)),
      );
    });

    it("a search for actions finds the capabilities, in the order of their names", async () => {
      const at = async (subject: object, resource: object) => (await found("action", { subject, resource })).results;
      const both = [{ name: "repo.list" }, { name: "repo.update" }];
      assert.deepEqual(await at(entity("identity", ci), entity("repo", repos[0]!)), both);
      assert.deepEqual(await at(entity("identity", ci), entity("group", below)), both);
      assert.deepEqual(await at(entity("user", ana), entity("group", below)), both);
      assert.deepEqual(await at(entity("user", ana), entity("group", group)), []);
      assert.deepEqual(await at(entity("identity", ci), entity("group", server.groupUid)), []);
    });

    it("the id of what a search is for, properties, context and unknown members change nothing", async () => {
      const more = { context: { time: "2025-06-27T18:03-07:00" }, foo: "bar", page: null };
      const plain = updaters();
      const expected = await found("subject", plain);
      const subject = { type: "identity", id: ana, properties: { department: "Sales" } };
      assert.deepEqual(await found("subject", { ...plain, ...more, subject }), expected);
      const asked = resources(entity("identity", ci), "repo.list", "repo");
      const resource = { type: "repo", id: repos[0]!, properties: { status: "active" } };
      assert.deepEqual(await found("resource", { ...asked, ...more, resource }), await found("resource", asked));
      const actions = { subject: entity("identity", ci), resource: entity("group", group) };
      const action = { name: "repo.delete" };
      assert.deepEqual(await found("action", { ...actions, ...more, action }), await found("action", actions));
    });

    it("a search that misses a member, or has one of another type, is 400", async () => {
      const [subject, action, resource] = [entity("identity", ci), { name: "repo.list" }, entity("group", group)];
      const cases: readonly (readonly [kind: string, body: object, message: RegExp])[] = [
        ["subject", { subject: entity("user"), resource }, /action: is required/],
        ["subject", { action, resource }, /subject: is required/],
        ["subject", { subject: {}, action, resource }, /subject\.type: is required/],
        ["subject", { subject, action, resource: entity("group") }, /resource\.id: is required/],
        ["resource", { action, resource: entity("repo") }, /subject: is required/],
        ["resource", { subject: entity("user"), action, resource: entity("repo") }, /subject\.id: is required/],
        ["resource", { subject, action, resource: { id: group } }, /resource\.type: is required/],
        ["action", { subject }, /resource: is required/],
        ["action", { subject: entity("user"), resource }, /subject\.id: is required/],
        ["action", { subject, resource, context: [] }, /context: must be an object/],
        ...["subject", "resource", "action"].flatMap((kind) =>
          (
            [
              [{ limit: -1 }, /page\.limit: must be a non-negative integer/],
              [{ limit: 1.5 }, /page\.limit: must be/],
              [{ limit: "1" }, /page\.limit: must be/],
              [{ token: 1 }, /page\.token: must be a string/],
              ["next", /page: must be an object/],
            ] as const
          ).map(([page, message]) => [kind, { subject, action, resource, page }, message] as const),
        ),
      ];
      for (const [kind, body, message] of cases) {
        const { status, text } = await search(kind, body);
        assert.equal(status, 400, `${kind}: ${JSON.stringify(body)}`);
        assert.match(text, message);
      }
    });

    it("a search for what is unknown, foreign or nowhere finds nothing, with the same bytes", async () => {
      const workload = entity("identity", ci);
      const action = { name: "groups.list" };
      const unknown = [
        entity("group", foreign.group),
        entity("group", "other.example"),
        entity("group", newRoot()),
        entity("repo", foreign.repo),
        entity("repo", newChild(group)),
        entity("repo", group),
        entity("record", "record-1"),
      ];
      for (const resource of unknown) {
        assert.deepEqual(await found("subject", { subject: entity("identity"), action, resource }), nothing);
        for (const subject of [workload, entity("identity", foreign.workload)])
          assert.deepEqual(await found("action", { subject, resource }), nothing);
      }
      for (const subject of [
        entity("user", "alice"),
        entity("user", ci),
        entity("spaceship", ci),
        entity("identity", foreign.workload),
        entity("identity", newChild(foreign.group)),
      ]) {
        assert.deepEqual(await found("resource", { subject, action, resource: entity("group") }), nothing);
        assert.deepEqual(await found("action", { subject, resource: entity("group", group) }), nothing);
      }
      assert.deepEqual(
        await found("subject", { subject: entity("spaceship"), action, resource: entity("group", group) }),
        nothing,
      );
      assert.deepEqual(await found("subject", subjects("user", "read", entity("group", group))), nothing);
      assert.deepEqual(await found("resource", resources(workload, "read", "group")), nothing);
      assert.deepEqual(await found("resource", resources(workload, "groups.list", "tag")), nothing);
    });

    it("pages of a limited size have all results once, in their order, and end with an empty token", async () => {
      const walk = async (kind: string, body: object, limit: number) => {
        const all: object[] = [];
        let token: string | undefined;
        for (let calls = 0; token !== "" && calls < 50; calls++) {
          const page: { limit: number; token?: string } = { limit, ...(token !== undefined && { token }) };
          const { page: got, results } = await found(kind, { ...body, page });
          assert.ok(results.length <= limit);
          all.push(...results);
          token = got.next_token;
          assert.equal(typeof token, "string");
        }
        assert.equal(token, "");
        return all;
      };
      const bodies: readonly (readonly [kind: string, body: object])[] = [
        ["subject", updaters()],
        ["subject", { ...updaters(), subject: entity("user") }],
        ["resource", resources(entity("identity", server.ownerUid), "groups.list", "group")],
        ["resource", resources(entity("identity", ci), "repo.list", "repo")],
        ["resource", resources(entity("identity", ci), "repo.list", "group")],
      ];
      for (const [kind, body] of bodies) {
        const { results } = await found(kind, body);
        for (const limit of [1, 2, 3, 200, 1_000_000]) assert.deepEqual(await walk(kind, body, limit), results, kind);
      }
      assert.equal((await found("subject", { ...updaters(), page: { limit: 0 } })).results.length, 3);
    });

    it("a token of another search, another client or nobody is rejected, and one without the limit goes on", async () => {
      const page = { limit: 1 };
      const other = await addCaller(server, server.groupUid, viewerRole.uid);
      const cases: readonly (readonly [kind: string, body: object, changed: object])[] = [
        ["subject", updaters(), subjects("identity", "repo.list", entity("group", below))],
        [
          "resource",
          resources(entity("identity", ci), "repo.list", "repo"),
          resources(entity("identity", ci), "repo.update", "repo"),
        ],
        [
          "resource",
          resources(entity("identity", ci), "repo.list", "repo"),
          resources(entity("identity", ci), "repo.list", "group"),
        ],
      ];
      for (const [kind, body, changed] of cases) {
        const { next_token: token } = (await found(kind, { ...body, page })).page;
        assert.notEqual(token, "");
        assert.ok((await found(kind, { ...body, page: { token } })).results.length >= 1);
        assert.equal((await search(kind, { ...changed, page: { token } })).status, 400);
        assert.equal((await search(kind, { ...body, page: { token } }, other.token)).status, 400);
        assert.equal((await search(kind, { ...body, page: { token: "a3M9NDU2O3N6PTI=" } })).status, 400);
      }
    });

    it("a client of a subgroup finds what it may ask about, and is told where others may have access", async () => {
      const asking = await addCaller(server, below, viewerRole.uid);
      const above = await addIdentity(server, server.groupUid);
      await bind(server, server.groupUid, above, viewerRole.uid);
      const listed = await found("subject", subjects("identity", "groups.list", entity("group", below)), asking.token);
      assert.deepEqual(listed.context, { unlisted_group_uids: [server.groupUid, group] });
      assert.deepEqual(idsOf(listed).includes(asking.uid), true);
      assert.deepEqual(
        await found("subject", subjects("identity", "groups.list", entity("group", group)), asking.token),
        nothing,
      );
      const groups = await found(
        "resource",
        resources(entity("identity", above), "groups.list", "group"),
        asking.token,
      );
      assert.deepEqual(idsOf(groups), [below]);
      const actions = { subject: entity("identity", above), resource: entity("group", below) };
      assert.equal((await found("action", actions, asking.token)).results.length, viewerRole.capabilities.length);
    });

    it("a client that may ask about nobody else finds its own access, and gets 403 for that of others", async () => {
      const puller = await addCaller(server, group, role, { home: group });
      const own = entity("identity", puller.uid);
      assert.deepEqual(idsOf(await found("resource", resources(own, "repo.list", "repo"), puller.token)), repos);
      const actions = { subject: own, resource: entity("repo", repos[0]!) };
      assert.equal((await found("action", actions, puller.token)).results.length, 2);
      const others: readonly (readonly [kind: string, body: object])[] = [
        ["subject", updaters()],
        ["subject", subjects("identity", "repo.list", entity("group", foreign.group))],
        ["resource", resources(entity("identity", ci), "repo.list", "repo")],
        ["action", { ...actions, subject: entity("identity", ci) }],
      ];
      for (const [kind, body] of others) {
        const { status, text } = await search(kind, body, puller.token);
        assert.deepEqual([status, /role_bindings\.list/.test(text)], [403, true], text);
      }
    });

    it("a narrowed token finds its own access only as far as it reaches", async () => {
      const narrowed = await server.tokenOf(gateway.uid, { scopes: [below] });
      const own = entity("identity", gateway.uid);
      assert.deepEqual(idsOf(await found("resource", resources(own, "groups.list", "group"), narrowed)), [below]);
      assert.deepEqual(await found("action", { subject: own, resource: entity("group", group) }, narrowed), nothing);
      assert.ok(
        (await found("action", { subject: own, resource: entity("group", below) }, narrowed)).results.length > 10,
      );
    });
  });
}
