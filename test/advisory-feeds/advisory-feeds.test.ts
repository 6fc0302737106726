// Exports over HTTP: who gets them, when they are sent again, and how many at once.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:http2";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import {
  AdvisoryEventSchema,
  AdvisorySchema,
  ReviewState,
} from "../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { exportFormats } from "../../src/advisories/exported.ts";
import { exportsPath } from "../../src/advisory-feeds/format-feed.ts";
import { limits } from "../../src/server/limits.ts";
import { insertAdvisory } from "../../src/services/vulnerabilities/advisories/insert-advisory.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addCaller, addGroup, addRole, arrange, operatorRole, viewerRole } from "../security/tree.ts";

after(stopPostgres);

for (const database of databases) {
  describe(`exports on ${database}`, () => {
    let server: TestServer;
    let group: string;
    let below: string;
    before(async () => {
      server = await startTestServer({ database });
      group = await addGroup(server, server.groupUid, "feed");
      below = await addGroup(server, group, "below");
      await add(group, "A-1");
      await add(below, "A-2");
    });
    after(() => server[Symbol.asyncDispose]());

    const add = (parent: string, advisoryId: string, componentLocation = "") => {
      const fields = { advisoryId, author: "feed", artifactName: "app", artifactType: "apk", componentLocation };
      const createTime = { seconds: 1_767_225_600n, nanos: 0 };
      const fixed = { case: "fixed", value: { fixedVersion: "1.0" } } as const;
      const events = [
        create(AdvisoryEventSchema, { author: "feed", reviewState: ReviewState.APPROVED, createTime, type: fixed }),
      ];
      return arrange(server, (tx) => insertAdvisory(tx, parent, create(AdvisorySchema, { ...fields, events })));
    };
    const get = async (
      uid: string,
      file: string,
      { token = server.ownerToken, headers = {}, method = "GET" }: Request = {},
    ) => {
      const authorization = token === "" ? {} : { authorization: `Bearer ${token}` };
      const url = `${server.url}${exportsPath}${uid}/${file}`;
      const reply = await fetch(url, { method, headers: { ...authorization, ...headers } });
      return { status: reply.status, headers: reply.headers, text: await reply.text() };
    };

    it("exports have the advisories of a group and its subgroups, in every format, also with an escaped uid", async () => {
      for (const format of exportFormats) {
        const { status, headers, text } = await get(group, `${format}.json?ecosystem=Wolfi`);
        assert.deepEqual([status, headers.get("content-type")], [200, "application/json"], text);
        assert.equal(headers.get("cache-control"), "private, no-cache");
        JSON.parse(text);
        assert.match(text, /A-1[\s\S]*A-2/);
        assert.doesNotMatch((await get(below, `${format}.json?ecosystem=Wolfi`)).text, /A-1/);
        assert.equal((await get(encodeURIComponent(group), `${format}.json?ecosystem=Wolfi`)).text, text);
      }
    });

    it("are for callers who may list the advisories of the group", async () => {
      const viewer = await addCaller(server, group, viewerRole.uid);
      const stranger = await addCaller(server, await addGroup(server, null, "other"), viewerRole.uid);
      const without = await addCaller(server, group, await addRole(server, group, []));
      const cases: readonly (readonly [who: string, token: string, uid: string, status: number])[] = [
        ["a viewer", viewer.token, group, 200],
        ["a viewer above", viewer.token, below, 200],
        ["a viewer elsewhere", viewer.token, server.groupUid, 403],
        ["a stranger", stranger.token, group, 403],
        ["a member without the capability", without.token, group, 403],
        [
          "a token that is narrowed to a group below",
          await server.tokenOf(viewer.uid, { scopes: [below] }),
          group,
          403,
        ],
        ["the same token there", await server.tokenOf(viewer.uid, { scopes: [below] }), below, 200],
        ["nobody", "", group, 401],
        ["a bad token", "x", group, 401],
        ["a token for the registry", viewer.registryToken, group, 401],
        ["nobody asks for a group that is not there", "", "a".repeat(40), 401],
        ["a viewer asks for a group that is not there", viewer.token, "a".repeat(40), 403],
      ];
      for (const [who, token, uid, status] of cases) {
        for (const method of ["GET", "HEAD"]) {
          const reply = await get(uid, "osv.json?ecosystem=Wolfi", {
            token,
            method,
            headers: { "if-none-match": "*" },
          });
          assert.equal(reply.status, status === 200 ? 304 : status, `${who}: ${method}`);
          assert.equal(reply.headers.get("etag") === null, status !== 200, who);
        }
        assert.equal((await get(uid, "osv.json?ecosystem=Wolfi", { token })).status, status, who);
      }
    });

    it("are not sent again until something changes", async () => {
      const file = "osv.json?ecosystem=Wolfi";
      const first = await get(group, file);
      const etag = first.headers.get("etag")!;
      assert.match(etag, /^W\/"[\w-]{22}"$/);
      const again = () => get(group, file, { headers: { "if-none-match": etag } });
      const unchanged = await again();
      assert.deepEqual([unchanged.status, unchanged.text, unchanged.headers.get("etag")], [304, "", etag]);
      const head = await get(group, file, { method: "HEAD" });
      assert.deepEqual([head.status, head.text, head.headers.get("etag")], [200, "", etag]);
      await add(server.groupUid, "A-3");
      assert.equal((await again()).status, 304, "a change elsewhere");
      await add(below, "A-4");
      const changed = await again();
      assert.equal(changed.status, 200);
      assert.match(changed.text, /A-4/);
      const others = ["openvex.json", "openvex.json?author=x", "osv.json?ecosystem=Alpine", file];
      const heads = others.map((each) => get(group, each, { method: "HEAD" }));
      const tags = (await Promise.all(heads)).map(({ headers }) => headers.get("etag"));
      assert.equal(new Set([etag, ...tags]).size, others.length + 1, "formats and parameters have tags of their own");
    });

    it("follow records, also those that only their format shows, and have what OSV sources withdrew", async () => {
      const operator = await addCaller(server, group, operatorRole.uid);
      const record = {
        source: "osv",
        document: "GO-1",
        vulnerability: "GO-1",
        advisoryId: "GO-1",
        format: "RECORD_FORMAT_OSV",
        statements: [
          { product: { purl: "pkg:golang/m", ecosystem: "Go", name: "m" }, status: "PRODUCT_STATUS_AFFECTED" },
        ],
      };
      const importAs = async (day: number, changes: object) => {
        const modifyTime = `2026-01-0${day}T00:00:00Z`;
        const path = `/gatehouse/vulnerabilities/v1/records/${below}:import`;
        const records = [{ ...record, modifyTime, ...changes }];
        const { status, body } = await rest(server.url, operator.token, "POST", path, { records });
        assert.equal(status, 200, JSON.stringify(body));
        return body.results[0].outcome;
      };
      const exported = async () => {
        const { headers, text } = await get(group, "osv.json?ecosystem=Wolfi");
        const found = JSON.parse(text).filter(({ id }: { id: string }) => id === "GO-1");
        return { etag: headers.get("etag"), found };
      };
      assert.equal(await importAs(1, {}), "RECORD_OUTCOME_CREATED");
      const first = await exported();
      assert.equal(first.found[0].modified, "2026-01-01T00:00:00Z");
      assert.equal(await importAs(1, {}), "RECORD_OUTCOME_UNCHANGED");
      assert.deepEqual(await exported(), first);
      await importAs(2, { extra: '{"database_specific":{"note":"new"}}' });
      const second = await exported();
      assert.deepEqual(second.found[0].database_specific, { note: "new" });
      await importAs(3, { withdrawTime: "2026-01-03T00:00:00Z" });
      const third = await exported();
      assert.deepEqual(
        third.found.map(({ withdrawn }: { withdrawn: string }) => withdrawn),
        ["2026-01-03T00:00:00Z"],
      );
      const other = { source: "other", document: "GO-2", vulnerability: "GO-2", advisoryId: "GO-2" };
      await importAs(4, { ...other, withdrawTime: "2026-01-03T00:00:00Z" });
      const fourth = await exported();
      assert.equal(new Set([first, second, third, fourth].map(({ etag }) => etag)).size, 4);
    });

    it("exports have Last-Modified once a later change cannot have the same second", async () => {
      assert.equal((await get(group, "secdb.json")).headers.get("last-modified"), null);
      const time = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
      await arrange(server, async (tx) => {
        const statement = tx.prepared("test.age", (db, { exportStates }) =>
          db.update(exportStates).set({ changeTime: time }),
        );
        await (statement as unknown as { execute(): Promise<unknown> }).execute();
      });
      const { headers } = await get(group, "secdb.json");
      const modified = headers.get("last-modified")!;
      assert.equal(modified, "Fri, 02 Jan 2026 03:04:05 GMT");
      const since = (value: string) => get(group, "secdb.json", { headers: { "if-modified-since": value } });
      assert.equal((await since(modified)).status, 304);
      assert.equal((await since("Fri, 02 Jan 2026 03:04:04 GMT")).status, 200);
      await add(group, "A-5");
      assert.equal((await since(modified)).status, 200);
    });

    it("an invalid request gets an error that names the problem", async () => {
      const cases: readonly (readonly [path: string, status: number, said: RegExp])[] = [
        [`${group}/osv.xml`, 404, /Not found: export .*osv\.xml/],
        ["osv.json", 404, /Not found: export osv\.json/],
        ["x/osv.json", 400, /parent: must match/],
        ["%E0%A4/osv.json", 400, /parent: has a malformed escape/],
        [`${group}/openvex.json?autor=x`, 400, /autor: is not a parameter/],
        [`${group}/openvex.json?author=`, 400, /author: must have 1 to 256 characters/],
        [`${group}/openvex.json?author=a%0Ab`, 400, /author: must have 1 to 256 characters/],
        [`${group}/openvex.json?author=a&author=b`, 400, /author: must not be given twice/],
        [`${group}/osv.json?ecosystem=Nowhere`, 400, /ecosystem: /],
      ];
      for (const [path, status, said] of cases) {
        const slash = path.lastIndexOf("/");
        const { body, ...reply } = await rest(server.url, server.ownerToken, "GET", `${exportsPath}${path}`);
        assert.equal(reply.status, status, path);
        assert.match(body.message, said);
        assert.ok(slash !== 0);
      }
      assert.equal((await get(group, "osv.json", { method: "DELETE" })).status, 405);
    });
  });
}

interface Request {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
}

describe("exports at once", () => {
  it("the number of exports at once is limited for each organization, and ended exports make room", async () => {
    await using server = await startTestServer();
    // More than the window of a stream of HTTP/2.
    const note = "x".repeat(4000);
    const event = create(AdvisoryEventSchema, {
      author: "feed",
      reviewState: ReviewState.APPROVED,
      createTime: timestampNow(),
      type: { case: "fixNotPlanned", value: { note } },
    });
    const advisories = Array.from({ length: 60 }, (_, i) =>
      create(AdvisorySchema, {
        advisoryId: `A-${i}`,
        author: "feed",
        artifactName: "app",
        artifactType: "apk",
        events: [event],
      }),
    );
    await arrange(server, async (tx) => {
      for (const advisory of advisories) await insertAdvisory(tx, server.groupUid, advisory);
    });
    const client = connect(server.url);
    const path = `${exportsPath}${server.groupUid}/openvex.json`;
    const open = async () => {
      const stream = client.request({ ":path": path, authorization: `Bearer ${server.ownerToken}` });
      stream.on("error", () => {});
      const [headers] = await once(stream, "response");
      return { stream, status: Number(headers[":status"]), retryAfter: headers["retry-after"] };
    };
    try {
      const opened = [];
      for (let i = 0; i < limits.exportsOfOrganization; i++) opened.push(await open());
      assert.deepEqual(new Set(opened.map(({ status }) => status)), new Set([200]));
      const { status, retryAfter } = await open();
      assert.deepEqual([status, retryAfter], [429, "5"]);
      const conditional = await rest(server.url, server.ownerToken, "HEAD", path);
      assert.equal(conditional.status, 200, "a request that is sent no content needs no slot");
      opened[0]!.stream.close(8);
      let next = await open();
      while (next.status === 429) {
        await sleep(5);
        next = await open();
      }
      assert.equal(next.status, 200);
    } finally {
      client.destroy();
    }
  });

  it("denied exports have one entry in the audit log", async () => {
    await using server = await startTestServer();
    const role = await addRole(server, server.groupUid, []);
    const { token, uid } = await addCaller(server, server.groupUid, role);
    const path = `${exportsPath}${server.groupUid}/openvex.json`;
    assert.equal((await rest(server.url, token, "GET", path)).status, 403);
    const query = new URLSearchParams({ parent: server.groupUid, kind: "denials" });
    // biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON
    let changes: any[] = [];
    while (changes.length === 0) {
      await sleep(20);
      ({ changes } = (await rest(server.url, server.ownerToken, "GET", `/gatehouse/changes/v1/changes?${query}`)).body);
    }
    assert.deepEqual(
      changes.map(({ actorUid, after }) => [actorUid, after.capability, after.count]),
      [[uid, "advisories.list", 1]],
    );
  });
});
