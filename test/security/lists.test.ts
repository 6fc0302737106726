// P: page tokens that were tampered with or borrowed, invalid orders and numbers, pages while rows change.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { formatPageToken, pageTokenLifetimeMs } from "../../src/aip/page-token.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { codeOf, type Ground, openGround, replyOf, turnableClock } from "./ground.ts";
import { addCaller, addGroup, ownerRole } from "./tree.ts";

after(stopPostgres);

for (const database of databases) {
  describe(`page tokens and lists on ${database}`, () => {
    const clock = turnableClock();
    let ground: Ground;
    let root: string;
    let uid: string;
    let token: string;
    const list = (request: JsonObject, as = token) => ground.once(as, "GroupsService/ListGroups", request);
    const names = (reply: JsonObject) => ((reply.groups ?? []) as JsonObject[]).map(({ name }) => name);
    const children = (changes: JsonObject = {}): JsonObject => ({ uidp: { childrenOf: root }, ...changes });
    /** Returns the page of two that follows a page token, asked for over REST with a fresh access token. */
    async function restPage(pageToken: string) {
      const fresh = await ground.server.tokenOf(uid);
      const query = new URLSearchParams({ "uidp.children_of": root, order_by: "name", page_size: "2" });
      if (pageToken) query.set("page_token", pageToken);
      return await rest(ground.server.url, fresh, "GET", `/iam/v2beta1/groups?${query}`);
    }

    /** Returns a page token of the children, in the order of their names. */
    async function pageToken(): Promise<string> {
      return String(replyOf(await list(children({ pageSize: 5, orderBy: "name" }))).nextPageToken);
    }

    before(async () => {
      ground = await openGround({ database, clock: clock.read });
      root = await addGroup(ground.server, null, "root");
      for (let i = 10; i < 24; i++) await addGroup(ground.server, root, `g${i}`);
      ({ uid, token } = await addCaller(ground.server, root, ownerRole.uid));
    });
    after(() => ground[Symbol.asyncDispose]());

    it("P2: every single bit flipped in a page token is INVALID_ARGUMENT", async () => {
      const good = Buffer.from(await pageToken());
      for (let bit = 0; bit < 8 * good.length; bit++) {
        const bad = Buffer.from(good);
        bad[bit >> 3]! ^= 1 << (bit & 7);
        const outcome = await list(children({ pageToken: bad.toString("latin1") }));
        assert.equal(codeOf(outcome), "INVALID_ARGUMENT", `bit ${bit}`);
      }
    });

    it("P2, P4: every truncation of a page token is INVALID_ARGUMENT", async () => {
      const good = await pageToken();
      for (let length = 1; length < good.length; length++) {
        const outcome = await list(children({ pageToken: good.slice(0, length) }));
        assert.equal(codeOf(outcome), "INVALID_ARGUMENT", `${length} characters`);
      }
    });

    const parts = { issuedAt: Date.now(), query: "x".repeat(22), order: "name", value: "a", uid: "b" };
    const forged: Readonly<Record<string, () => string>> = {
      "P1: made with another key, with SQL in its value": () =>
        formatPageToken(Buffer.alloc(32), { ...parts, value: "' or 1=1 --" }),
      "P1: made with another key, with SQL in its order": () =>
        formatPageToken(Buffer.alloc(32), { ...parts, order: "name; drop table groups" }),
      "P1: base64 of another shape": () => Buffer.from('{"skip":5}').toString("base64url"),
      "P1: no base64": () => "%%%%",
      "P4: with an empty cursor": () => formatPageToken(Buffer.alloc(32), { ...parts, value: "", uid: "" }),
      "P4: nearly empty": () => "AA",
    };
    for (const [rule, make] of Object.entries(forged)) {
      it(`${rule}, a page token is INVALID_ARGUMENT and named`, async () => {
        const outcome = await ground.everywhere(token, "GroupsService/ListGroups", children({ pageToken: make() }));
        assert.equal(codeOf(outcome), "INVALID_ARGUMENT");
        assert.match(outcome.message, /page_token/);
      });
    }

    it("P3: a page token is for its own caller, method, filter and order only", async () => {
      const made = await pageToken();
      const other = await addCaller(ground.server, root, ownerRole.uid);
      const refused = [
        await ground.everywhere(other.token, "GroupsService/ListGroups", children({ pageToken: made })),
        await ground.everywhere(token, "RolesService/ListRoles", children({ pageToken: made })),
        await ground.everywhere(token, "GroupsService/ListGroups", { pageToken: made }),
        await ground.everywhere(token, "GroupsService/ListGroups", children({ name: "g10", pageToken: made })),
        await ground.everywhere(token, "GroupsService/ListGroups", children({ orderBy: "name desc", pageToken: made })),
      ];
      assert.deepEqual(refused.map(codeOf), Array(refused.length).fill("INVALID_ARGUMENT"));
    });

    it("P3: a follow-up keeps the order of its token, and may have another page size", async () => {
      const next = replyOf(await list(children({ pageSize: 3, pageToken: await pageToken() })));
      assert.deepEqual(names(next), ["g15", "g16", "g17"]);
    });

    it("P4: an intact token older than three days restarts the list, and a header says so", async () => {
      const made = await pageToken();
      clock.advance(pageTokenLifetimeMs - 60_000);
      const before = await restPage(made);
      clock.advance(60_000);
      const after = await restPage(made);
      const expired = "x-page-token-expired";
      assert.deepEqual([names(before.body), before.headers.get(expired)], [["g15", "g16"], null]);
      assert.deepEqual([names(after.body), after.headers.get(expired)], [["g10", "g11"], "true"]);
      // Three days on, the access token of the other tests has long ended.
      token = await ground.server.tokenOf(uid);
    });

    const orders = [
      "unknown",
      "name; drop table groups",
      "name desc, uid",
      "__proto__",
      "constructor",
      "email",
      "name--",
    ];
    for (const orderBy of orders) {
      it(`P6: order_by ${orderBy} is INVALID_ARGUMENT and names the allowed fields`, async () => {
        for (const method of ["GroupsService/ListGroups", "IdentitiesService/ListIdentities"]) {
          const outcome = await ground.everywhere(token, method, { orderBy });
          assert.equal(codeOf(outcome), "INVALID_ARGUMENT");
          assert.match(outcome.message, /name.*create_time/);
        }
      });
    }

    const numbers: readonly [string, JsonObject, string, number?][] = [
      ["page_size -1", { pageSize: -1 }, "INVALID_ARGUMENT"],
      ["page_size 0", { pageSize: 0 }, "OK", 14],
      ["page_size 201", { pageSize: 201 }, "OK", 14],
      ["page_size 2147483647", { pageSize: 2147483647 }, "OK", 14],
      ["skip -1", { skip: -1 }, "INVALID_ARGUMENT"],
      ["skip past the end", { skip: 15 }, "OK", 0],
      ["skip 10 with page_size 5", { skip: 10, pageSize: 5, orderBy: "name" }, "OK", 4],
    ];
    for (const [rule, request, code, rows] of numbers) {
      it(`P7: ${rule} of 14 rows is ${code}${rows === undefined ? "" : ` with ${rows} rows`}`, async () => {
        const outcome = await ground.everywhere(token, "GroupsService/ListGroups", children(request));
        assert.equal(codeOf(outcome), code);
        if (rows === undefined) return;
        const reply = replyOf(outcome);
        assert.deepEqual([names(reply).length, reply.totalCount, reply.skipped ?? 0], [rows, "14", request.skip ?? 0]);
        assert.equal(reply.nextPageToken, undefined);
      });
    }

    for (const query of ["page_size=5abc", "page_size=2147483648", "skip=1.5", "page_size=1&page_size=2"]) {
      it(`P7: the query ${query} is INVALID_ARGUMENT`, async () => {
        // The cases before may have moved the clock beyond the life of the owner's first token.
        const token = await ground.server.tokenOf(ground.server.ownerUid);
        assert.equal((await rest(ground.server.url, token, "GET", `/iam/v2beta1/groups?${query}`)).status, 400);
      });
    }

    for (const orderBy of ["name", "name desc", "create_time", "update_time desc"]) {
      it(`P8: pages by ${orderBy} lose and repeat no row that stays, while others come and go`, async () => {
        const { server } = ground;
        const parent = await addGroup(server, root);
        const as = await server.tokenOf(uid);
        // Equal keys, and texts whose order depends on the collation.
        const kept = await Promise.all(
          Array.from({ length: 24 }, (_, i) => addGroup(server, parent, ["a", "a b", "a.b", "a-b"][i % 4])),
        );
        const passing = await Promise.all(Array.from({ length: 8 }, () => addGroup(server, parent, "a")));
        const seen: string[] = [];
        let pageToken = "";
        do {
          const request = { uidp: { childrenOf: parent }, pageSize: 5, orderBy, pageToken };
          const reply = replyOf(await list(request, as));
          seen.push(...((reply.groups ?? []) as JsonObject[]).map((group) => String(group.uid)));
          pageToken = String(reply.nextPageToken ?? "");
          await addGroup(server, parent, "a");
          const gone = passing.pop();
          if (gone) assert.equal(codeOf(await ground.once(as, "GroupsService/DeleteGroup", { uid: gone })), "OK");
        } while (pageToken !== "" && seen.length < 200);
        assert.equal(new Set(seen).size, seen.length, "a row came twice");
        assert.deepEqual(
          kept.filter((one) => !seen.includes(one)),
          [],
          "a row was lost",
        );
      });
    }

    it("P9: a skip of a thousand million is an empty page, and lists of uids are capped", async () => {
      const as = await ground.server.tokenOf(uid);
      const far = replyOf(await ground.everywhere(as, "GroupsService/ListGroups", children({ skip: 1e9 })));
      assert.deepEqual([names(far), far.skipped], [[], 1e9]);
      for (const apiClient of ground.apiClients.filter(({ name }) => name !== "rest")) {
        const many = { uidp: { ids: Array(1001).fill(root) } };
        assert.equal(codeOf(await apiClient.call(as, listGroups, many)), "INVALID_ARGUMENT", apiClient.name);
      }
      const repeated = Array(10_000).fill("skip=0").join("&").slice(0, 20_000);
      assert.equal((await rest(ground.server.url, as, "GET", `/iam/v2beta1/groups?${repeated}`)).status, 400);
    });
  });
}

const listGroups = "/chainguard.platform.iam.v2beta1.GroupsService/ListGroups";
