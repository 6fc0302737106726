// AIP-158: page tokens end after three days without an error, and cannot be made or changed by callers.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { create, type JsonObject } from "@bufbuild/protobuf";
import { AdvisorySchema } from "../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import type { Narrowing } from "../../src/authn/caller.ts";
import { capabilitySet, findCapabilityByName } from "../../src/model/capabilities.ts";
import { newChild } from "../../src/model/uid.ts";
import { insertAdvisory } from "../../src/services/vulnerabilities/advisories/insert-advisory.ts";
import { insertRow } from "../../src/storage/collection/rows.ts";
import { groupCollection } from "../../src/storage/iam/collections.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { type RestReply, rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addCaller, arrange, ownerRole } from "../security/tree.ts";
import { dayMs, testClock } from "./fixtures.ts";
import { addAdvisory } from "./vulnerabilities/search-fixtures.ts";

const clock = testClock();
/** Rows that begin alike for longer than any token is. */
const long = "😀\u2028".repeat(3000);

let server: TestServer;

/** Lists the groups below the root one by one; the token of the call is fresh, however far the clock has gone. */
async function list(pageToken = "", from = server): Promise<RestReply> {
  const query = new URLSearchParams({ "uidp.children_of": from.groupUid, order_by: "name", page_size: "1" });
  if (pageToken !== "") query.set("page_token", pageToken);
  return await rest(from.url, await from.tokenOf(from.ownerUid), "GET", `/iam/v2beta1/groups?${query}`);
}

const nameOf = ({ body }: RestReply) => body.groups[0].name;
const isExpired = ({ headers }: RestReply) => headers.get("x-page-token-expired");

describe("page tokens", () => {
  before(async () => {
    server = await startTestServer({ clock: clock.read });
    for (const name of ["a", "b", "c"]) {
      await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/groups/${server.groupUid}`, { name });
    }
  });
  after(() => server[Symbol.asyncDispose]());

  it("continue a list for three days, and restart it afterwards", async () => {
    const { nextPageToken } = (await list()).body;
    clock.advance(3 * dayMs - 1);
    const inTime = await list(nextPageToken);
    assert.deepEqual([nameOf(inTime), isExpired(inTime)], ["b", null]);
    clock.advance(1);
    const tooLate = await list(nextPageToken);
    assert.deepEqual([tooLate.status, nameOf(tooLate), isExpired(tooLate)], [200, "a", "true"]);
    const renewed = await list(tooLate.body.nextPageToken);
    assert.deepEqual([nameOf(renewed), isExpired(renewed)], ["b", null]);
  });

  it("an expired token of another query is rejected too", async () => {
    const { nextPageToken } = (await list()).body;
    clock.advance(4 * dayMs);
    const token = await server.tokenOf(server.ownerUid);
    const reply = await rest(server.url, token, "GET", `/iam/v2beta1/groups?page_token=${nextPageToken}`);
    assert.deepEqual([reply.status, reply.body.details[1].fieldViolations[0].field], [400, "page_token"]);
  });

  it("page tokens are rejected if any character is changed, removed or added", async () => {
    const { nextPageToken } = (await list()).body;
    const changed = (i: number) =>
      nextPageToken.slice(0, i) + (nextPageToken[i] === "A" ? "B" : "A") + nextPageToken.slice(i + 1);
    const places = Array.from({ length: nextPageToken.length }, (_, i) => i).filter((i) => i % 7 === 0);
    const tampered = [...places.map(changed), nextPageToken.slice(0, -1), nextPageToken.slice(1), `${nextPageToken}A`];
    for (const text of tampered) {
      const { status, body } = await list(text);
      assert.deepEqual([status, body.code], [400, 3], text);
    }
  });

  it("belong to the caller and the method, also for a cached page", async () => {
    const other = await addCaller(server, server.groupUid, ownerRole.uid, { home: server.groupUid });
    const paths = ["iam/v2beta1/groups", "iam/v2/groups"];
    const ask = async (uid: string, path: string, page_token = "") => {
      const parameters = { "uidp.children_of": server.groupUid, order_by: "name", page_size: "1", page_token };
      const query = new URLSearchParams(parameters);
      return await rest(server.url, await server.tokenOf(uid), "GET", `/${path}?${query}`);
    };
    const callers = [server.ownerUid, other.uid];
    // Often enough that the first page is remembered, which they have in common.
    for (let i = 0; i < 3; i++) {
      for (const uid of callers) {
        for (const path of paths) {
          const next = await ask(uid, path, (await ask(uid, path)).body.nextPageToken);
          assert.deepEqual([next.status, nameOf(next)], [200, "b"], next.body.message);
        }
      }
    }
  });

  it("belong to one narrowing: a wider or narrower session of the caller cannot continue with one", async () => {
    const only = (...names: string[]) => capabilitySet(names.map((name) => findCapabilityByName(name)!.number));
    const read = ["groups.list", "subscriptions.create", "advisories.list"];
    const sessions: Narrowing[] = [
      {},
      { scopes: [server.groupUid] },
      { capabilities: only(...read) },
      { capabilities: only(...read, "groups.update") },
      { scopes: [server.groupUid], capabilities: only(...read) },
    ];
    await arrange(server, async (tx) => {
      for (const artifactName of ["a", "b"]) await addAdvisory(tx, server.groupUid, { artifactName });
    });
    const lists = [
      ["/iam/v2beta1/groups", "page_size=1"],
      ["/iam/v2/groups", "page_size=1"],
      ["/vulnerabilities/v1/advisories", `uidp.children_of=${server.groupUid}&page_size=1`],
      ["/gatehouse/changes/v1/changes", `parent=${server.groupUid}&page_size=1`],
    ] as const;
    for (const [path, query] of lists) {
      const ask = async (narrowing: Narrowing, pageToken = "") => {
        const token = await server.tokenOf(server.ownerUid, narrowing);
        return await rest(server.url, token, "GET", `${path}?${query}&page_token=${pageToken}`);
      };
      for (const [i, made] of sessions.entries()) {
        const { status, body } = await ask(made);
        assert.equal(status, 200, `${path}: ${body.message}`);
        assert.notEqual(body.nextPageToken ?? "", "", path);
        for (const [j, used] of sessions.entries())
          assert.equal((await ask(used, body.nextPageToken)).status, i === j ? 200 : 400, `${path} ${i} ${j}`);
      }
    }
  });

  it("page tokens do not depend on the order of the scopes", async () => {
    const [first, second] = [server.groupUid, newChild(server.groupUid)];
    const ask = async (scopes: string[], pageToken = "") => {
      const token = await server.tokenOf(server.ownerUid, { scopes });
      return await rest(server.url, token, "GET", `/iam/v2beta1/groups?page_size=1&page_token=${pageToken}`);
    };
    const { nextPageToken } = (await ask([first, second])).body;
    assert.equal((await ask([second, first], nextPageToken)).status, 200);
  });

  it("page tokens are renewed also for a cached page", async () => {
    for (let i = 0; i < 3; i++) await list();
    clock.advance(3 * dayMs);
    const next = await list((await list()).body.nextPageToken);
    assert.deepEqual([nameOf(next), isExpired(next)], ["b", null]);
  });

  it("page tokens of another installation are rejected", async () => {
    await using other = await startTestServer();
    for (const name of ["a", "b"]) {
      await rest(other.url, other.ownerToken, "POST", `/iam/v2beta1/groups/${other.groupUid}`, { name });
    }
    const { nextPageToken } = (await list("", other)).body;
    assert.equal((await list(nextPageToken, other)).status, 200);
    assert.equal((await list(nextPageToken)).status, 400);
  });
});

const context = { actor: "", method: "test", requestId: "", time: clock.read() };

/** Advisories with as many aliases as there may be, and groups with names from before these were limited. */
async function addLong({ server: { database }, groupUid }: TestServer): Promise<void> {
  const aliases = Array.from({ length: 999 }, (_, i) => `CVE-2026-${String(i).padStart(7, "0")}`);
  const uids = Array.from({ length: 3 }, () => newChild(groupUid));
  await database.write(context, async (tx) => {
    for (const [i, uid] of uids.entries()) {
      await insertAdvisory(
        tx,
        groupUid,
        create(AdvisorySchema, { advisoryId: `A-${i}`, aliases: [...aliases, `${i}`] }),
      );
      await insertRow(tx, groupCollection, {
        uid,
        parent: groupUid,
        name: `${long}${3 - i}`,
        description: "",
        resourceLimits: {},
        verified: false,
        kind: 0,
        status: 0,
        createTime: 1,
        updateTime: 1,
      });
    }
  });
}

after(stopPostgres);

for (const database of databases) {
  describe(`page tokens of rows with long texts, on ${database}`, () => {
    let place: TestServer;
    before(async () => {
      place = await startTestServer({ database });
      await addLong(place);
    });
    after(() => place[Symbol.asyncDispose]());

    for (const [path, plural, orders] of [
      ["/vulnerabilities/v2beta1/advisories", "advisories", ["aliases", "aliases desc", "name"]],
      ["/iam/v2beta1/groups", "groups", ["name", "name desc"]],
    ] as const) {
      for (const order of orders) {
        it(`page tokens of rows with long texts lead to each row once: ${plural} by ${order}`, async () => {
          const shown: string[] = [];
          let token = "";
          do {
            const query = { "uidp.children_of": place.groupUid, order_by: order, page_size: "1", page_token: token };
            const url = `${path}?${new URLSearchParams(query)}`;
            const { status, body } = await rest(place.url, place.ownerToken, "GET", url);
            assert.equal(status, 200, JSON.stringify(body).slice(0, 500));
            shown.push(...body[plural].map(({ uid }: JsonObject) => String(uid)));
            token = body.nextPageToken ?? "";
          } while (token !== "" && shown.length < 10);
          assert.equal(shown.length, 3);
          const byUid = [...shown].sort();
          if (plural === "groups" || order !== "name")
            assert.deepEqual(shown, order.endsWith("desc") ? byUid.toReversed() : byUid);
        });
      }
    }
  });
}
