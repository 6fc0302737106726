// Evaluations of AuthZEN through the wire: one at a time and in batches, and what makes a request unreadable.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addRepo } from "../security/registry-tree.ts";
import { addCaller, addGroup, addIdentity, addPerson, addRole, bind, viewerRole } from "../security/tree.ts";
import { ask, question } from "./ask.ts";

after(stopPostgres);

for (const database of databases) {
  describe(`evaluations of AuthZEN on ${database}`, () => {
    let server: TestServer;
    let gateway: string;
    let group: string;
    let repo: string;
    let role: string;
    let ci: string;
    let ciBinding: string;
    let ana: string;
    let anaBinding: string;
    before(async () => {
      server = await startTestServer({ database });
      group = await addGroup(server, server.groupUid, "engineering");
      repo = await addRepo(server, group);
      role = await addRole(server, group, [Capability.CAP_IAM_ROLES_LIST]);
      ci = await addIdentity(server, group);
      ciBinding = await bind(server, group, ci, viewerRole.uid);
      ana = await addPerson(server, "ana", "ana@example.org", server.groupUid);
      anaBinding = await bind(server, server.groupUid, ana, viewerRole.uid);
      gateway = (await addCaller(server, server.groupUid, viewerRole.uid)).token;
    });
    after(() => server[Symbol.asyncDispose]());

    const evaluate = (body: unknown, headers = {}) => ask(server, gateway, "evaluation", body, headers);
    const evaluateAll = (body: unknown) => ask(server, gateway, "evaluations", body);
    const denied = (reason: string, ...uids: string[]) => ({
      decision: false,
      context: { reason, role_binding_uids: uids },
    });

    it("metadata name the endpoints below the base URL, and pages of any origin may read them", async () => {
      const reply = await fetch(`${server.url}/.well-known/authzen-configuration`, {
        headers: { origin: "https://app.example.com" },
      });
      assert.equal(reply.headers.get("content-type"), "application/json");
      assert.equal(reply.headers.get("access-control-allow-origin"), "*");
      const { policy_decision_point: point, ...endpoints } = (await reply.json()) as Record<string, string>;
      assert.equal(point, server.config.baseUrl);
      for (const [name, url] of Object.entries(endpoints)) {
        const path = name.replace(/^(access|search)_(.*)_endpoint$/, "$1 $2").replace("access ", "");
        assert.equal(url, `${server.config.baseUrl}/access/v1/${path.replace(" ", "/")}`);
        const asked = await fetch(url, { method: "POST", headers: { authorization: `Bearer ${gateway}` } });
        assert.equal(asked.status, 400, url);
      }
    });

    it("a decision has its reason and the role bindings that give or lack the capability", async () => {
      const granted = { decision: true, context: { reason: "GRANTED", role_binding_uids: [ciBinding] } };
      const cases: readonly (readonly [body: object, expected: object])[] = [
        [question(ci, "groups.list", group), granted],
        [question(ci, "repo.list", repo, "repo"), granted],
        [question(ci, "identity.list", ci, "identity"), granted],
        [question(ci, "roles.list", role, "role"), granted],
        [question(ci, "groups.delete", group), denied("ROLE_LACKS_CAPABILITY", ciBinding)],
        [question(ci, "groups.list", server.groupUid), denied("IDENTITY_CONFINED")],
        [
          question(ana, "repo.list", repo, "repo", "user"),
          { decision: true, context: { reason: "GRANTED", role_binding_uids: [anaBinding] } },
        ],
        [question(ana, "repo.delete", repo, "repo", "identity"), denied("ROLE_LACKS_CAPABILITY", anaBinding)],
      ];
      for (const [body, expected] of cases) {
        const { status, headers, body: found } = await evaluate(body);
        assert.deepEqual([status, found], [200, expected], JSON.stringify(body));
        assert.equal(headers.get("content-type"), "application/json");
        assert.equal(headers.get("cache-control"), "no-store");
      }
    });

    it("a permit says when the last role binding ends, and a denial that one begins later", async () => {
      const hour = 3_600_000;
      const now = server.clock();
      const person = await addPerson(server, "kim", "kim@example.org", server.groupUid);
      const decisionAt = async (where: string) => (await evaluate(question(person, "groups.list", where))).body;
      const at = async (terms: Parameters<typeof bind>[4], place: string) =>
        await bind(server, place, person, viewerRole.uid, terms);
      const end = new Date(now + 2 * hour).toISOString();
      const first = await at({ expireTime: now + hour }, group);
      const soon = { reason: "GRANTED", role_binding_uids: [first], until: new Date(now + hour).toISOString() };
      assert.deepEqual(await decisionAt(group), { decision: true, context: soon });
      const second = await at({ startTime: now - hour, expireTime: now + 2 * hour }, server.groupUid);
      const { decision, context } = await decisionAt(group);
      assert.deepEqual(
        [decision, context.until, context.role_binding_uids.toSorted()],
        [true, end, [first, second].sort()],
      );
      const below = await addGroup(server, group, "below");
      await at({}, below);
      assert.equal("until" in (await decisionAt(below)).context, false);
      const later = await addPerson(server, "lee", "lee@example.org", server.groupUid);
      const binding = await bind(server, group, later, viewerRole.uid, { startTime: now + hour });
      assert.deepEqual(
        (await evaluate(question(later, "groups.list", group))).body,
        denied("TERM_NOT_STARTED", binding),
      );
    });

    it("a group is also named by its path, from its organization on", async () => {
      const at = async (path: string) => (await evaluate(question(ci, "groups.list", path))).body;
      assert.equal((await at("example.org/engineering")).decision, true);
      assert.deepEqual(await at("example.org"), denied("IDENTITY_CONFINED"));
      for (const path of [
        "engineering",
        "example.org/",
        "/example.org",
        "example.org/nothing",
        "",
        "/",
        "example.org/engineering/x",
      ])
        assert.deepEqual(await at(path), denied("NO_BINDING"), path);
    });

    it("properties, context and unknown members change nothing", async () => {
      const plain = question(ci, "groups.list", group);
      const properties = { status: "archived", role: "admin", nested: [{ deep: null }] };
      const { text } = await evaluate(plain);
      const more = {
        subject: { ...plain.subject, properties, more: 1 },
        action: { ...plain.action, properties },
        resource: { ...plain.resource, properties },
        context: { time: "2025-06-27T18:03-07:00", ip: "192.168.1.1" },
        futureField: { nested: true },
        evaluations: "not for this endpoint",
      };
      assert.equal((await evaluate(more)).text, text);
      assert.equal((await evaluate({ ...plain, context: null })).text, text);
    });

    it("a type or an action that does not exist has a reason of its own", async () => {
      assert.deepEqual((await evaluate(question(ci, "read", group))).body, denied("UNKNOWN_ACTION"));
      assert.deepEqual((await evaluate(question(ci, "toString", group))).body, denied("UNKNOWN_ACTION"));
      for (const [resource, subject] of [
        ["record", "identity"],
        ["tag", "identity"],
        ["__proto__", "user"],
        ["group", "spaceship"],
      ])
        assert.deepEqual(
          (await evaluate(question(ci, "groups.list", group, resource, subject))).body,
          denied("UNKNOWN_TYPE"),
        );
    });

    it("a resource of another type, and a workload as user, are unknown", async () => {
      const cases = [
        question(ci, "groups.list", group, "repo"),
        question(ci, "repo.list", repo, "group"),
        question(ci, "groups.list", ciBinding, "role"),
        question(ci, "groups.list", group, "group", "user"),
      ];
      for (const body of cases) assert.deepEqual((await evaluate(body)).body, denied("NO_BINDING"));
    });

    it("a request that misses a member, or has one of another type, is 400 with a message", async () => {
      const { subject, action, resource } = question(ci, "groups.list", group);
      const cases: readonly (readonly [body: unknown, message: RegExp])[] = [
        [{ action, resource }, /subject: is required/],
        [{ subject, resource }, /action: is required/],
        [{ subject, action }, /resource: is required/],
        [{ subject: null, action, resource }, /subject: is required/],
        [{ subject: { id: ci }, action, resource }, /subject\.type: is required/],
        [{ subject: { type: "user" }, action, resource }, /subject\.id: is required/],
        [{ subject, action: {}, resource }, /action\.name: is required/],
        [{ subject, action, resource: { id: group } }, /resource\.type: is required/],
        [{ subject, action, resource: { type: "group" } }, /resource\.id: is required/],
        [{ subject: "alice", action, resource }, /subject: must be an object/],
        [{ subject: [], action, resource }, /subject: must be an object/],
        [{ subject, action: { name: 123 }, resource }, /action\.name: must be a string/],
        [{ subject: { ...subject, id: 7 }, action, resource }, /subject\.id: must be a string/],
        [{ subject, action, resource, context: "now" }, /context: must be an object/],
        [{ subject: { ...subject, properties: 1 }, action, resource }, /subject\.properties: must be an object/],
        [[], /body: must be an object/],
        ["null", /body: is required/],
        ["7", /body: must be an object/],
      ];
      for (const [body, message] of cases)
        for (const endpoint of ["evaluation", "evaluations"]) {
          const { status, text, headers } = await ask(server, gateway, endpoint, body);
          assert.equal(status, 400, text);
          assert.match(text, message);
          assert.equal(headers.get("content-type"), "text/plain; charset=utf-8");
        }
    });

    it("a body that is not JSON, too large or of another media type is 400", async () => {
      const valid = JSON.stringify(question(ci, "groups.list", group));
      const padded = (length: number) => `${valid.slice(0, -1)},"context":{"x":"${"x".repeat(length)}"}}`;
      const cases: readonly (readonly [what: string, body: unknown, headers?: Record<string, string>])[] = [
        ["an empty body", ""],
        ["half an object", valid.slice(0, -1)],
        ["a subject twice", `{"subject":{"type":"user","id":"x"},${valid.slice(1)}`],
        ["a member twice", valid.replace('"id":', '"id":"x","id":')],
        ["arrays nested too deep", `${valid.slice(0, -1)},"context":{"x":${"[".repeat(200)}${"]".repeat(200)}}}`],
        ["many unclosed arrays", "[".repeat(100_000)],
        ["a raw NUL", valid.replace(ci, "\0")],
        ["an escaped NUL", valid.replace(ci, "a\\u0000")],
        ["half a surrogate pair", valid.replace(group, "example.org\\ud800")],
        ["a byte order mark", `\uFEFF${valid}`],
        ["Latin-1", Buffer.from(valid.replace(ci, "\xe4"), "latin1")],
        ["more than 1 MiB", padded(1024 * 1024)],
        ["text", valid, { "content-type": "text/plain" }],
        ["a form", valid, { "content-type": "application/x-www-form-urlencoded" }],
        ["UTF-16", valid, { "content-type": "application/json; charset=utf-16" }],
        ["no media type", valid, { "content-type": "" }],
        ["a compressed body", valid, { "content-encoding": "gzip" }],
      ];
      for (const [what, body, headers] of cases) {
        const { status, text } = await evaluate(body, headers);
        assert.equal(status, 400, `${what}: ${text}`);
        assert.match(text, /^[A-Z].+: .+\n$/, what);
      }
      assert.equal((await evaluate(padded(1024 * 1024 - 4096))).body.decision, true);
      assert.equal((await evaluate(valid, { "content-type": "application/json; charset=UTF-8" })).body.decision, true);
    });

    it("the request id of the client is repeated in each response, also of an error; without one the server makes it", async () => {
      const body = question(ci, "groups.list", group);
      for (const id of ["bfe9eb29-ab87-4ca3-be83-a1d5d8305716", 'any text, even "this"', "x".repeat(1000)])
        for (const [sent, token, status] of [
          [body, gateway, 200],
          [{}, gateway, 400],
          [body, "x", 401],
        ] as const) {
          const reply = await ask(server, token, "evaluation", sent, { "x-request-id": id });
          assert.deepEqual([reply.status, reply.headers.get("x-request-id")], [status, id]);
        }
      assert.match((await evaluate(body)).headers.get("x-request-id")!, /^[0-9a-f]{32}$/);
    });

    it("a request without a valid token is 401 with a challenge, and another method 405", async () => {
      for (const token of ["x", await server.tokenOf(ci, {}, server.config.registry.service)]) {
        const { status, headers, text } = await ask(server, token, "evaluation", "no JSON");
        assert.equal(status, 401);
        assert.match(headers.get("www-authenticate")!, /^Bearer/);
        assert.match(text, /^Unauthenticated: /);
      }
      assert.equal((await ask(server, "", "evaluations", {}, { authorization: "" })).status, 401);
      assert.equal((await fetch(`${server.url}/access/v1/evaluation`)).status, 405);
    });

    it("the same question has the same answer each time", async () => {
      const texts = await Promise.all(
        Array.from({ length: 20 }, () => evaluate(question(ci, "repo.list", repo, "repo"))),
      );
      assert.equal(new Set(texts.map(({ text }) => text)).size, 1);
    });

    it("a batch without evaluations, or with none, is one evaluation", async () => {
      const body = question(ci, "groups.list", group);
      const { text } = await evaluate(body);
      for (const more of [
        {},
        { evaluations: [] },
        { evaluations: null },
        { options: { evaluations_semantic: "execute_all" } },
      ])
        assert.equal((await evaluateAll({ ...body, ...more })).text, text);
    });

    it("a batch is answered in its order, and a default stands for an entity that an item lacks", async () => {
      const { subject, action, resource } = question(ci, "groups.list", group);
      const other = question(ana, "groups.delete", server.groupUid, "group", "user");
      const cases: readonly (readonly [body: object, decisions: readonly boolean[]])[] = [
        [{ evaluations: [{ subject, action, resource }, other] }, [true, false]],
        [{ subject, action, evaluations: [{ resource }, { resource: other.resource }] }, [true, false]],
        [{ subject, resource, evaluations: [{ action: other.action }, { action }] }, [false, true]],
        [
          { subject, action, resource, evaluations: [{}, { subject: other.subject }, { context: { ip: "::1" } }] },
          [true, true, true],
        ],
        [{ resource, action, evaluations: [{ subject: other.subject }] }, [true]],
        [{ subject, action, evaluations: [{ resource: { type: "group", id: "example.org/engineering" } }] }, [true]],
      ];
      for (const [body, decisions] of cases) {
        const { status, body: found } = await evaluateAll(body);
        assert.deepEqual(
          [status, Object.keys(found), found.evaluations.map((each: { decision: boolean }) => each.decision)],
          [200, ["evaluations"], decisions],
          JSON.stringify(body),
        );
      }
    });

    it("an item that misses a member is denied with its error, and the others are answered", async () => {
      const { subject, action, resource } = question(ci, "groups.list", group);
      const { status, body } = await evaluateAll({
        subject,
        action,
        evaluations: [
          { resource },
          {},
          7,
          { resource: { type: "group" } },
          { resource: "x" },
          { resource, subject: { type: "user" } },
        ],
      });
      assert.equal(status, 200);
      const [first, ...failed] = body.evaluations;
      assert.equal(first.decision, true);
      assert.deepEqual(
        failed.map((each: { decision: boolean; context: { error: object } }) => [each.decision, each.context.error]),
        [
          [false, { status: 400, message: "Invalid argument: resource: is required" }],
          [false, { status: 400, message: "Invalid argument: evaluations[2]: must be an object" }],
          [false, { status: 400, message: "Invalid argument: resource.id: is required" }],
          [false, { status: 400, message: "Invalid argument: resource: must be an object" }],
          // §7.1.1: an entity of an item replaces the whole default.
          [false, { status: 400, message: "Invalid argument: subject.id: is required" }],
        ],
      );
    });

    it("a batch ends after the first denial or the first permit if the request says so", async () => {
      const { subject, resource } = question(ci, "", group);
      const names = ["groups.list", "repo.list", "groups.delete", "roles.list", "read"];
      const decisionsOf = async (semantic: string | null | undefined, order: readonly string[]) => {
        const evaluations = order.map((name) => (name === "" ? { action: {} } : { action: { name } }));
        const options = { evaluations_semantic: semantic, another_option: "value" };
        const { status, body } = await evaluateAll({ subject, resource, options, evaluations });
        assert.equal(status, 200);
        return body.evaluations.map(({ decision }: { decision: boolean }) => decision);
      };
      const all = [true, true, false, true, false];
      for (const semantic of ["execute_all", null, undefined])
        assert.deepEqual(await decisionsOf(semantic, names), all);
      assert.deepEqual(await decisionsOf("deny_on_first_deny", names), [true, true, false]);
      assert.deepEqual(await decisionsOf("deny_on_first_deny", ["roles.list", "", "repo.list"]), [true, false]);
      assert.deepEqual(await decisionsOf("deny_on_first_deny", ["roles.list"]), [true]);
      assert.deepEqual(await decisionsOf("permit_on_first_permit", names.toReversed()), [false, true]);
      assert.deepEqual(await decisionsOf("permit_on_first_permit", ["read", ""]), [false, false]);
    });

    it("a batch of more than 100, with another semantic or with a default of another type is 400", async () => {
      const { subject, action, resource } = question(ci, "groups.list", group);
      const evaluations = [{ resource }];
      const many = (length: number) => ({ subject, action, evaluations: Array.from({ length }, () => ({ resource })) });
      assert.equal((await evaluateAll(many(100))).body.evaluations.length, 100);
      const cases: readonly (readonly [body: object, message: RegExp])[] = [
        [many(101), /evaluations: must not have more than 100 items/],
        [{ subject, action, evaluations: {} }, /evaluations: must be an array/],
        [{ subject, action, evaluations, options: [] }, /options: must be an object/],
        ...["first", "toString", 7, {}].map(
          (evaluations_semantic) =>
            [
              { subject, action, evaluations, options: { evaluations_semantic } },
              /options\.evaluations_semantic: must be one of execute_all, deny_on_first_deny, permit_on_first_permit/,
            ] as const,
        ),
        [{ subject: "alice", action, evaluations: [{ subject, resource }] }, /subject: must be an object/],
      ];
      for (const [body, message] of cases) {
        const { status, text } = await evaluateAll(body);
        assert.equal(status, 400, text);
        assert.match(text, message);
      }
    });
  });
}
