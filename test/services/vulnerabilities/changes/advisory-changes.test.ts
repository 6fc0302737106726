// Followers of the changes of advisories during concurrent writes.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { AdvisorySchema } from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { deleteState, lockAdvisory } from "../../../../src/services/vulnerabilities/advisories/advisory-state.ts";
import { insertAdvisory } from "../../../../src/services/vulnerabilities/advisories/insert-advisory.ts";
import { deleteAdvisory, updateAdvisory } from "../../../../src/services/vulnerabilities/advisories/write-advisory.ts";
import type { Database } from "../../../../src/storage/database.ts";
import type { Transaction } from "../../../../src/storage/engine/session.ts";
import { sweep } from "../../../../src/storage/sweep.ts";
import { databases } from "../../../harness/databases.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { isQuick } from "../../../harness/quick.ts";
import { rest } from "../../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../../harness/server.ts";
import { startTwoNodes } from "../../../harness/two-nodes.ts";
import { addCaller, addGroup, arrange, operatorRole, viewerRole } from "../../../security/tree.ts";
import { context } from "../../../storage/fixtures.ts";

after(stopPostgres);

interface Shown {
  readonly uid: string;
  readonly author: string;
  readonly events: readonly unknown[];
  readonly deleteTime?: string;
}

interface Page {
  readonly advisories: readonly Shown[];
  readonly nextPageToken: string;
  readonly hasMore?: boolean;
}

type Query = Readonly<Record<string, string>>;

function ask({ url }: Pick<TestServer, "url">, token: string, query: Query) {
  const path = `/gatehouse/vulnerabilities/v1/advisories:changedSince?${new URLSearchParams(query)}`;
  return rest(url, token, "GET", path);
}

/** Reads on from a token, or from a time, until nothing follows; at most so many pages. */
async function read(server: Pick<TestServer, "url">, token: string, query: Query, pages = 10_000) {
  const advisories: Shown[] = [];
  let { pageToken = "" } = query;
  for (let i = 0; i < pages; i++) {
    const { status, body } = await ask(server, token, { ...query, ...(pageToken !== "" && { pageToken }) });
    assert.equal(status, 200, JSON.stringify(body));
    const page = body as Page;
    advisories.push(...page.advisories);
    pageToken = page.nextPageToken;
    if (page.hasMore !== true) break;
  }
  return { advisories, pageToken };
}

function advisoryBy(author: string) {
  return create(AdvisorySchema, { advisoryId: `ID-${Math.random()}`, author, artifactName: "app" });
}

function fieldsBy(author: string) {
  const component = { componentName: "", componentType: "", componentLocation: "" };
  return { author, artifactName: "app", artifactType: "", artifactArchitecture: "", ...component, aliases: [] };
}

/** Creates advisories, changes them and deletes every third, with times that are older than their commits. */
async function writeMany(database: Database, group: string, name: string, count: number): Promise<void> {
  const write = <T>(body: (tx: Transaction) => Promise<T>) =>
    database.write({ ...context, time: Date.now() - Math.floor(20_000 * Math.random()) }, body);
  for (let i = 0; i < count; i++) {
    const uid = await write((tx) => insertAdvisory(tx, group, advisoryBy(name)));
    await write((tx) => updateAdvisory(tx, uid, fieldsBy(`${name} ${i}`)));
    if (i % 3 === 0) await write((tx) => deleteAdvisory(tx, uid));
  }
}

/** Returns the advisories that a follower knows after these changes, in their order. */
function knownOf(advisories: readonly Shown[]): ReadonlyMap<string, string> {
  return new Map(advisories.map(({ uid, author, deleteTime }) => [uid, deleteTime === undefined ? author : "deleted"]));
}

async function follow(one: TestServer, databases: readonly Database[]): Promise<void> {
  const group = await addGroup(one, one.groupUid, `follow-${databases.length}`);
  const query = { "uidp.descendantsOf": group, pageSize: "7" };
  await writeMany(one.server.database, group, "before", 12);
  const seen: Shown[] = [];
  let pageToken = "";
  let isWriting = true;
  const writing = Promise.all(databases.map((database, i) => writeMany(database, group, `writer ${i}`, 20))).finally(
    () => {
      isWriting = false;
    },
  );
  while (isWriting) {
    const page = await read(one, one.ownerToken, { ...query, pageToken }, 1);
    seen.push(...page.advisories);
    pageToken = page.pageToken;
    await turn();
  }
  await writing;
  seen.push(...(await read(one, one.ownerToken, { ...query, pageToken })).advisories);
  const whole = await read(one, one.ownerToken, query);
  assert.deepEqual(
    [...knownOf(seen)].sort(),
    [...knownOf(whole.advisories)].sort(),
    "a follower and a new reader know the same advisories",
  );
  assert.equal(knownOf(seen).size, 12 + 20 * databases.length);
  assert.equal([...knownOf(seen).values()].filter((state) => state === "deleted").length, 4 + 7 * databases.length);
  const { body } = await rest(
    one.url,
    one.ownerToken,
    "GET",
    `/vulnerabilities/v2beta1/advisories?uidp.descendants_of=${group}&pageSize=200`,
  );
  const listed = (body as Page).advisories.map(({ uid, author }) => [uid, author]);
  assert.deepEqual([...knownOf(seen)].filter(([, state]) => state !== "deleted").sort(), listed.sort());
}

describe("a follower misses nothing during concurrent writes and sees deletions", () => {
  it("a follower on SQLite misses no change", async () => {
    await using server = await startTestServer();
    const { database } = server.server;
    await follow(server, [database, database, database]);
  });

  it("a follower on PostgreSQL misses no change of writers on two nodes", { skip: isQuick }, async () => {
    await using nodes = await startTwoNodes();
    const databases = [nodes.one.server.database, nodes.other.server.database];
    await follow(nodes.one, [...databases, ...databases]);
  });
});

for (const database of databases) {
  describe(`changes of advisories on ${database}`, () => {
    let now = Date.now();
    let server: TestServer;
    let group: string;
    let query: Query;
    before(async () => {
      server = await startTestServer({ database, clock: () => now });
      group = await addGroup(server, server.groupUid, "team");
      query = { "uidp.descendantsOf": group };
    });
    after(() => server[Symbol.asyncDispose]());
    const add = (author: string, parent = group) =>
      arrange(server, (tx) => insertAdvisory(tx, parent, advisoryBy(author)));

    it("report a withdrawal at its import, not at the time that the source gives", async () => {
      const uid = await add("source");
      now += 1000;
      const startTime = new Date(now).toISOString();
      now += 1000;
      const long = Date.UTC(2020, 0, 1);
      await arrange(server, async (tx) => deleteState(tx, await lockAdvisory(tx, uid), long));
      const { advisories } = await read(server, server.ownerToken, { ...query, startTime });
      assert.deepEqual(
        advisories.map((each) => [each.uid, each.deleteTime]),
        [[uid, "2020-01-01T00:00:00.000Z"]],
      );
    });

    it("an advisory that changed several times comes once, at its last change", async () => {
      const { pageToken } = await read(server, server.ownerToken, query);
      const [first, second] = [await add("first"), await add("second")];
      await arrange(server, (tx) => updateAdvisory(tx, first, fieldsBy("changed")));
      const { advisories } = await read(server, server.ownerToken, { ...query, pageToken });
      assert.deepEqual(
        advisories.map(({ uid, author }) => [uid, author]),
        [
          [second, "second"],
          [first, "changed"],
        ],
      );
    });

    it("include an advisory that was withdrawn before it was in a list", async () => {
      const { pageToken } = await read(server, server.ownerToken, query);
      const operator = await addCaller(server, group, operatorRole.uid);
      const path = `/gatehouse/vulnerabilities/v1/records/${group}:import`;
      const record = {
        source: "osv",
        document: "GO-1",
        vulnerability: "GO-1",
        advisoryId: "GO-1",
        format: "RECORD_FORMAT_OSV",
        modifyTime: "2026-01-02T00:00:00Z",
        withdrawTime: "2026-01-01T00:00:00Z",
        statements: [
          { product: { purl: "pkg:golang/m", ecosystem: "Go", name: "m" }, status: "PRODUCT_STATUS_AFFECTED" },
        ],
      };
      const send = async (changes: object) => {
        const records = [{ ...record, ...changes }];
        const { status, body } = await rest(server.url, operator.token, "POST", path, { records });
        assert.equal(status, 200, JSON.stringify(body));
      };
      await send({});
      const first = await read(server, server.ownerToken, { ...query, pageToken });
      assert.deepEqual(
        first.advisories.map(({ author, deleteTime }) => [author, deleteTime]),
        [["osv", "2026-01-01T00:00:00.000Z"]],
      );
      const [{ uid }] = first.advisories as [Shown];
      await send({ modifyTime: "2026-01-03T00:00:00Z", withdrawTime: undefined });
      const second = await read(server, server.ownerToken, { ...query, pageToken: first.pageToken });
      assert.deepEqual(
        second.advisories.map((each) => [each.uid, each.deleteTime]),
        [[uid, undefined]],
        "the source has taken its withdrawal back",
      );
    });

    it("include advisories that were deleted together with their group", async () => {
      const own = await addGroup(server, group, "short-lived");
      const uid = await add("gone", own);
      const { pageToken } = await read(server, server.ownerToken, query);
      await arrange(server, (tx) => deleteAdvisory(tx, uid));
      const removed = await rest(server.url, server.ownerToken, "DELETE", `/iam/v2beta1/groups/${own}`);
      assert.equal(removed.status, 200, JSON.stringify(removed.body));
      const { advisories } = await read(server, server.ownerToken, { ...query, pageToken });
      assert.deepEqual(
        advisories.map((each) => [each.uid, each.author, each.events, each.deleteTime !== undefined]),
        [[uid, "gone", [], true]],
      );
    });

    it("ChangedSince lists only advisories of groups that the caller may read, also with a narrowed token", async () => {
      const other = await addGroup(server, null, "other");
      const theirs = await addCaller(server, other, viewerRole.uid);
      const [mine, below] = [await add("mine"), await addGroup(server, group, "below")];
      const inBelow = await add("below", below);
      const inOther = await add("other", other);
      const uidsOf = async (token: string) =>
        (await read(server, token, {})).advisories.map(({ uid }) => uid).filter((uid) => all.includes(uid));
      const all = [mine, inBelow, inOther];
      assert.deepEqual(await uidsOf(theirs.token), [inOther]);
      assert.deepEqual(await uidsOf(await server.tokenOf(server.ownerUid, { scopes: [below] })), [inBelow]);
      assert.deepEqual((await uidsOf(server.ownerToken)).toSorted(), [mine, inBelow].toSorted());
    });

    it("use a different token each time, which reveals nothing about other changes", async () => {
      const tokens = new Set<string>();
      const lengths = new Set<number>();
      for (let i = 0; i < 3; i++) {
        const { pageToken } = await read(server, server.ownerToken, {
          "uidp.childrenOf": group,
          startTime: "2100-01-01T00:00:00Z",
        });
        tokens.add(pageToken);
        lengths.add(pageToken.length);
      }
      assert.deepEqual([tokens.size, lengths.size], [3, 1]);
    });

    it("a client can follow changes of advisories for years without changes for the caller, while retention deletes the log", async () => {
      let { pageToken } = await read(server, server.ownerToken, query);
      for (let i = 0; i < 3; i++) {
        now += 400 * 86_400_000;
        const token = await server.tokenOf(server.ownerUid);
        await addGroup(server, null, `other-${i}`);
        ({ pageToken } = await read(server, token, { ...query, pageToken }));
        await sweepOld();
      }
      const uid = await add("last");
      const token = await server.tokenOf(server.ownerUid);
      const { advisories } = await read(server, token, { ...query, pageToken });
      assert.deepEqual(
        advisories.map((each) => each.uid),
        [uid],
      );
    });

    it("older than retention: the error names the time from which to restart, and nothing is missed", async () => {
      const first = await read(server, await server.tokenOf(server.ownerUid), query);
      now += 86_400_000;
      const [deleted, kept] = [await add("to be deleted"), await add("kept")];
      await arrange(server, (tx) => deleteAdvisory(tx, deleted));
      now += 10 * 86_400_000;
      await add("latest");
      await sweepOld();
      const token = await server.tokenOf(server.ownerUid);
      const { status, body } = await ask(server, token, { ...query, pageToken: first.pageToken });
      assert.equal(status, 400);
      assert.match(JSON.stringify(body), /CHANGE_NOT_KEPT/);
      const startTime = /start_time ([0-9TZ:.-]+)/.exec(JSON.stringify(body))![1]!;
      const known = knownOf((await read(server, token, { ...query, startTime })).advisories);
      assert.deepEqual(
        [known.get(deleted), known.get(kept), [...known.values()].at(-1)],
        ["deleted", "kept", "latest"],
      );
    });

    async function sweepOld(): Promise<void> {
      const never = Number.MAX_SAFE_INTEGER;
      const others = {
        registryEventMs: never,
        retiredKeyMs: never,
        nodeMs: never,
        countMs: never,
        usageMs: never,
        accessRecordMs: never,
        imageUseMs: 0,
        eventMs: never,
        accessMs: never,
        seenTokenMs: never,
      };
      const keeping = { changeMs: 86_400_000, ...others };
      await sweep(server.server.database, { ...context, time: now }, keeping, new AbortController().signal);
    }
  });
}
