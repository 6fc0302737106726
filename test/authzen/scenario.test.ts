// The Core levels and Discovery of the working group's certification scenario for Authorization API 1.0, with our names: a record is a repo,
// read is repo.list, write is repo.update, and alice and bob are people. The numbers are those of the scenario's requirements.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addRepo } from "../security/registry-tree.ts";
import { addCaller, addPerson, addRole, bind, viewerRole } from "../security/tree.ts";
import { ask } from "./ask.ts";

after(stopPostgres);

type Members = Readonly<Record<string, unknown>>;

for (const database of databases) {
  describe(`the certification scenario of AuthZEN on ${database}`, () => {
    let server: TestServer;
    let token: string;
    const ids = new Map<string, string>();
    before(async () => {
      server = await startTestServer({ database });
      const root = server.groupUid;
      for (const name of ["record-1", "record-2"]) ids.set(name, await addRepo(server, root));
      for (const name of ["alice", "bob"])
        ids.set(name, await addPerson(server, name, `${name}@example.org`, server.groupUid));
      const reader = await addRole(server, root, [Capability.CAP_REPO_LIST]);
      const writer = await addRole(server, root, [Capability.CAP_REPO_LIST, Capability.CAP_REPO_UPDATE]);
      await bind(server, root, ids.get("alice")!, writer);
      await bind(server, root, ids.get("bob")!, reader);
      token = (await addCaller(server, root, viewerRole.uid)).token;
    });
    after(() => server[Symbol.asyncDispose]());

    /** Words of the scenario and what stands for them here, in requests and responses. */
    const words = () =>
      new Map([...ids, ["record", "repo"], ["read", "repo.list"], ["write", "repo.update"]] as [string, string][]);
    const toOurs = (value: unknown): unknown => replaced(value, words());
    const toTheirs = (value: unknown): unknown =>
      replaced(value, new Map([...words()].map(([theirs, ours]) => [ours, theirs])));

    async function send(endpoint: string, body: Members) {
      const { status, body: found } = await ask(server, token, endpoint, toOurs(body));
      // biome-ignore lint/suspicious/noExplicitAny: the assertions check what it has
      return { status, body: toTheirs(found) as any };
    }
    const user = (id?: string) => ({ type: "user", ...(id !== undefined && { id }) });
    const record = (id?: string) => ({ type: "record", ...(id !== undefined && { id }) });
    const action = (name: string) => ({ name });
    const aliceReads = () => ({ subject: user("alice"), action: action("read"), resource: record("record-1") });
    const context = { time: "2025-06-27T18:03-07:00", ip: "192.168.1.1" };

    it("Basic Core 2.2: the four decisions of the fixture, also with context, properties and unknown fields", async () => {
      const decisions: readonly (readonly [subject: string, action: string, decision: boolean])[] = [
        ["alice", "read", true],
        ["alice", "write", true],
        ["bob", "read", true],
        ["bob", "write", false],
      ];
      const properties = { department: "Sales", role: "manager", status: "active", owner: "bob", method: "GET" };
      for (const [subject, name, decision] of decisions) {
        const plain = { ...aliceReads(), subject: user(subject), action: action(name) };
        const withProperties = {
          subject: { ...plain.subject, properties },
          action: { ...plain.action, properties },
          resource: { ...plain.resource, properties },
        };
        for (const body of [plain, { ...plain, context }, { ...plain, foo: "bar", futureField: {} }, withProperties]) {
          const reply = await send("evaluation", body);
          assert.deepEqual([reply.status, reply.body.decision, typeof reply.body.context], [200, decision, "object"]);
        }
      }
    });

    it("Batch Core 3.2 and 3.3: decisions have the number and order of the evaluations", async () => {
      const [read, write] = [{ action: action("read") }, { action: action("write") }];
      const [first, second] = [{ resource: record("record-1") }, { resource: record("record-2") }];
      const cases: readonly (readonly [body: Members, decisions: readonly boolean[]])[] = [
        [{ subject: user("alice"), ...read, evaluations: [first, second] }, [true, true]],
        [{ subject: user("bob"), ...first, evaluations: [read, write] }, [true, false]],
        [{ evaluations: [aliceReads(), { subject: user("bob"), ...write, ...first }] }, [true, false]],
        [{ subject: user("alice"), ...read, context, evaluations: [first, { ...second, context: {} }] }, [true, true]],
      ];
      for (const [body, decisions] of cases) {
        const reply = await send("evaluations", body);
        assert.equal(reply.status, 200);
        assert.deepEqual(decisionsOf(reply.body), decisions);
        assert.equal("decision" in reply.body, false);
      }
    });

    it("Batch Core 3.4: an incomplete evaluation is denied, and a batch without evaluations is one evaluation", async () => {
      const options = { evaluations_semantic: "execute_all" };
      const { resource, ...rest } = aliceReads();
      const partly = await send("evaluations", { ...rest, options, evaluations: [{ resource }, {}] });
      assert.deepEqual([partly.status, decisionsOf(partly.body)], [200, [true, false]]);
      for (const more of [{}, { evaluations: [] }]) {
        const reply = await send("evaluations", { ...aliceReads(), ...more });
        assert.deepEqual([reply.status, reply.body.decision], [200, true]);
      }
    });

    it("Search Core 4.2 to 4.4: searches find what the fixture permits, and ignore the id of what they search for", async () => {
      const { subject, action: reads, resource } = aliceReads();
      const cases: readonly (readonly [kind: string, body: Members, ignored: Members, expected: readonly object[]])[] =
        [
          [
            "subject",
            { subject: user(), action: reads, resource },
            { subject: user("alice") },
            [user("alice"), user("bob")],
          ],
          [
            "resource",
            { subject, action: reads, resource: record() },
            { resource: record("record-1") },
            [record("record-1")],
          ],
          ["action", { subject, resource }, {}, [action("read"), action("write")]],
        ];
      for (const [kind, body, ignored, expected] of cases) {
        const { status, body: found } = await send(`search/${kind}`, body);
        assert.equal(status, 200);
        for (const each of expected)
          assert.ok(
            found.results.some((one: object) => sameMembers(one, each)),
            kind,
          );
        for (const more of [{ context }, ignored, { page: {} }])
          assert.deepEqual((await send(`search/${kind}`, { ...body, ...more })).body, found, kind);
      }
    });

    it("Search Core 4.5: a page with a limit has a token, and the last page an empty one", async () => {
      const body = { subject: user(), action: action("read"), resource: record("record-1") };
      let page: Members = { limit: 1 };
      for (let pages = 0; ; pages++) {
        assert.ok(pages < 10);
        const reply = await send("search/subject", { ...body, page });
        assert.equal(reply.status, 200);
        assert.ok(Array.isArray(reply.body.results));
        assert.equal(typeof reply.body.page.next_token, "string");
        if (reply.body.page.next_token === "") break;
        page = { token: reply.body.page.next_token };
      }
    });

    it("Search Core 4.6: an unknown id or type finds nothing", async () => {
      const { subject, action: reads, resource } = aliceReads();
      for (const other of [user("nonexistent-user"), { type: "spaceship", id: "alice" }]) {
        const bodies: readonly (readonly [kind: string, body: Members])[] = [
          ["action", { subject: other, resource }],
          ["resource", { subject: other, action: reads, resource: record() }],
          ["subject", { subject: user(), action: reads, resource: { ...other, id: "nothing" } }],
          ["subject", { subject: { type: "spaceship" }, action: reads, resource }],
          ["resource", { subject, action: reads, resource: { type: "spaceship" } }],
          ["action", { subject, resource: { type: "spaceship", id: "x" } }],
        ];
        for (const [kind, body] of bodies) {
          const reply = await send(`search/${kind}`, body);
          assert.deepEqual([reply.status, reply.body.results], [200, []], kind);
        }
      }
    });

    it("Discovery 6: the metadata name this server and its endpoints", async () => {
      const reply = await fetch(`${server.url}/.well-known/authzen-configuration`);
      assert.deepEqual([reply.status, reply.headers.get("content-type")], [200, "application/json"]);
      const metadata = (await reply.json()) as Record<string, string>;
      assert.equal(metadata.policy_decision_point, server.config.baseUrl);
      for (const [name, url] of Object.entries(metadata)) assert.ok(url.startsWith(server.config.baseUrl), name);
    });
  });
}

function decisionsOf({ evaluations }: { evaluations: readonly { decision: boolean }[] }): boolean[] {
  return evaluations.map(({ decision }) => decision);
}

function sameMembers(one: object, other: object): boolean {
  return JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());
}

/** Replaces texts in a value. */
function replaced(value: unknown, words: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return words.get(value) ?? value;
  if (Array.isArray(value)) return value.map((each) => replaced(each, words));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, replaced(each, words)]));
}
