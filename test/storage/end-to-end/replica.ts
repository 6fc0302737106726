// `npm run suites -- database`: lists that a streaming standby answers, and all the reasons why it must not.
import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { after, before, describe, it } from "node:test";
import { type DebianServer, startDebianPostgres } from "../../harness/debian-postgres.ts";
import { rest } from "../../harness/rest.ts";
import { type EmptyServer, startEmptyServer, startTestServer, type TestServer } from "../../harness/server.ts";
import { untilTrue } from "../../harness/until.ts";
import { openSilentProxy, type SilentProxy } from "../silent-proxy.ts";
import { skipWithout } from "./programs.ts";
import { startStreaming } from "./streaming.ts";

skipWithout("postgres");

/** A server with a replica, another one on the same primary without, and a client of both. */
interface Cluster extends AsyncDisposable {
  readonly primary: DebianServer;
  readonly standby: DebianServer;
  /** Between the server and the standby. */
  readonly proxy: SilentProxy;
  readonly server: TestServer;
  readonly other: EmptyServer;
  /** The log events about the replica. */
  readonly events: { event: string; reason?: string; host: string }[];
}

async function startCluster(): Promise<Cluster> {
  await using opened = new AsyncDisposableStack();
  const [primary, standby] = await startStreaming(opened);
  const proxy = opened.use(await openSilentProxy(standby.port));
  const events: Cluster["events"] = [];
  const log = new Writable({
    write(line, _encoding, done) {
      const parsed = JSON.parse(String(line));
      if (/^database_replica/.test(parsed.event)) events.push(parsed);
      done();
    },
  });
  const databaseUrl = primary.url("gatehouse");
  const databaseReplicaUrl = `postgres://postgres@127.0.0.1:${proxy.port}/gatehouse`;
  const server = opened.use(await startTestServer({ settings: { databaseUrl, databaseReplicaUrl }, log }));
  const { baseUrl, dataDir } = server.config;
  const other = opened.use(await startEmptyServer({ settings: { databaseUrl, baseUrl, dataDir } }));
  const closing = opened.move();
  return { primary, standby, proxy, server, other, events, [Symbol.asyncDispose]: () => closing.disposeAsync() };
}

/** Calls of the owner. */
function clientOf({ url }: Pick<TestServer, "url">, { ownerToken, groupUid }: TestServer) {
  let lists = 0;
  return {
    async create(name: string): Promise<void> {
      const { status } = await rest(url, ownerToken, "POST", `/iam/v2beta1/groups/${groupUid}`, { name });
      assert.equal(status, 200, name);
    },
    /** Returns the names of the newest groups. Each call has another page size, so no cache has the page. */
    async list(): Promise<string[]> {
      const query = `order_by=uid%20desc&page_size=${50 + (lists++ % 150)}`;
      const { status, body } = await rest(url, ownerToken, "GET", `/iam/v2beta1/groups?${query}`);
      assert.equal(status, 200, JSON.stringify(body));
      return body.groups.map(({ name }: { name: string }) => name);
    },
  };
}

async function counted({ url }: Pick<TestServer, "url">): Promise<Record<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const reads = Number(/^gatehouse_replica_reads_total (\d+)/m.exec(text)?.[1]);
  const fallbacks = text.matchAll(/^gatehouse_replica_fallbacks_total\{reason="(\w+)"\} (\d+)/gm);
  return { reads, ...Object.fromEntries([...fallbacks].map(([, reason, count]) => [reason!, Number(count)])) };
}

async function clockOf(server: DebianServer): Promise<string> {
  return String((await server.query("SELECT clock_timestamp()::text AS now"))[0]?.now);
}

/** Returns how many sessions of Gatehouse have ended a snapshot since. Single statements do not count. */
async function snapshotsSince(server: DebianServer, since: string): Promise<number> {
  const ended = "application_name = 'gatehouse' AND query = 'COMMIT'";
  const [row] = await server.query(`SELECT count(*) FROM pg_stat_activity WHERE ${ended} AND query_start > '${since}'`);
  return Number(row?.count);
}

/** Lists until the replica answers. */
async function untilUsed(server: TestServer, list: () => Promise<unknown>): Promise<void> {
  const { reads } = await counted(server);
  await untilTrue(async () => {
    await list();
    return (await counted(server)).reads! > reads!;
  });
}

describe("a server with a replica", () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster[Symbol.asyncDispose]());

  it("lists are read from the replica, not from the primary", async () => {
    const { server, primary, standby } = cluster;
    const { create, list } = clientOf(server, server);
    await create("first");
    await untilUsed(server, list);
    // Counts of statistics and the like may be written to the primary meanwhile, but not in every one of these rounds.
    let snapshotsOfPrimary = -1;
    for (let round = 0; round < 5 && snapshotsOfPrimary !== 0; round++) {
      const before = await counted(server);
      const [primarySince, standbySince] = [await clockOf(primary), await clockOf(standby)];
      // One after another: twenty new connections at once may take a busy machine longer than the server waits for a replica.
      for (let i = 0; i < 20; i++) assert.ok((await list()).includes("first"));
      assert.deepEqual(await counted(server), { ...before, reads: before.reads! + 20 });
      snapshotsOfPrimary = await snapshotsSince(primary, primarySince);
      assert.ok((await snapshotsSince(standby, standbySince)) > 0);
    }
    assert.equal(snapshotsOfPrimary, 0);
  });

  it("lets the primary list what the change log does not have", async () => {
    const { server } = cluster;
    await untilUsed(server, clientOf(server, server).list);
    const before = await counted(server);
    for (const path of ["identities", "roleBindings", `roleBindings?group=${server.groupUid}`])
      assert.equal((await rest(server.url, server.ownerToken, "GET", `/iam/v2beta1/${path}`)).status, 200);
    assert.deepEqual(await counted(server), before);
  });

  it("a request for a missing resource does not count as a failure of the replica", async () => {
    const { server } = cluster;
    await untilUsed(server, clientOf(server, server).list);
    const before = await counted(server);
    const path = `/iam/v2beta1/terms/${server.groupUid}/0123456789abcdef`;
    assert.equal((await rest(server.url, server.ownerToken, "GET", path)).status, 404);
    const { reads, ...fallbacks } = await counted(server);
    assert.deepEqual({ reads: before.reads, ...fallbacks }, before);
    assert.ok(reads! >= before.reads!);
  });

  it("never gets an old list from one that lags, and uses it again when it has caught up", async () => {
    const { server, other, standby } = cluster;
    const [here, elsewhere] = [clientOf(server, server), clientOf(other, server)];
    await untilUsed(server, here.list);
    await standby.query("SELECT pg_wal_replay_pause()");
    const before = await counted(server);
    for (const [i, { create }] of [here, elsewhere, here, elsewhere].entries()) {
      await create(`paused-${i}`);
      assert.ok((await here.list()).includes(`paused-${i}`));
    }
    const lagging = await counted(server);
    assert.deepEqual(lagging, { ...before, behind: before.behind! + 4 });
    await standby.query("SELECT pg_wal_replay_resume()");
    await untilUsed(server, here.list);
    assert.ok(!cluster.events.some(({ reason }) => reason === "behind"), "a short lag is not logged");
  });

  it("shows no commit that is not yet visible on the primary", async () => {
    const { server, primary, standby } = cluster;
    const { create, list } = clientOf(server, server);
    await untilUsed(server, list);
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = 'missing'");
    await primary.query("SELECT pg_reload_conf()");
    await untilTrue(
      async () => (await primary.query("SHOW synchronous_standby_names"))[0]?.synchronous_standby_names === "missing",
    );
    const created = create("waiting");
    await untilTrue(
      async () => (await standby.query("SELECT 1 FROM groups WHERE name = 'waiting'", "gatehouse")).length === 1,
    );
    const before = await counted(server);
    assert.ok(!(await list()).includes("waiting"));
    assert.deepEqual(await counted(server), { ...before, ahead: before.ahead! + 1 });
    await primary.query("ALTER SYSTEM RESET synchronous_standby_names");
    await primary.query("SELECT pg_reload_conf()");
    await created;
    assert.ok((await list()).includes("waiting"));
  });

  it("never misses a write that was acknowledged before, on either of two servers under load", async (t) => {
    const { server, other } = cluster;
    const before = await counted(server);
    const until = performance.now() + 3000;
    let rounds = 0;
    const missed: string[] = [];
    async function work(client: number): Promise<void> {
      const writer = clientOf(client % 2 === 0 ? server : other, server);
      const reader = clientOf(server, server);
      for (let i = 0; performance.now() < until; i++) {
        const name = `load-${client}-${i}`;
        await writer.create(name);
        if (!(await reader.list()).includes(name)) missed.push(name);
        rounds++;
      }
    }
    await Promise.all(Array.from({ length: 8 }, (_, client) => work(client)));
    assert.deepEqual(missed, []);
    const { reads, ...fallbacks } = await counted(server);
    t.diagnostic(`${rounds} lists: ${reads! - before.reads!} by the replica; fallbacks: ${JSON.stringify(fallbacks)}`);
    assert.ok(reads! > before.reads!);
  });

  it("the primary answers while the replica does not respond, and the replica soon afterwards", async () => {
    const { server, proxy, events } = cluster;
    const { create, list } = clientOf(server, server);
    await untilUsed(server, list);
    proxy.silence({ all: true });
    const begunAt = performance.now();
    await create("silent");
    const lists = await Promise.all(Array.from({ length: 8 }, list));
    assert.ok(lists.every((names) => names.includes("silent")));
    const firstMs = performance.now() - begunAt;
    const laterMs = await slowestOf(20, list);
    // New connections work again.
    proxy.silence();
    // Without a limit of their own, they would wait for the connect timeout of three seconds.
    assert.ok(Math.max(firstMs, laterMs) < 2500, `${firstMs} and ${laterMs} ms`);
    await untilUsed(server, list);
    // Once a minute at most: on a busy machine, it may have been slow before.
    assert.ok(events.some(({ reason }) => reason === "slow"));
    assert.ok(events.some(({ event }) => event === "database_replica_used"));
  });

  it("the primary answers once the replica is promoted or stopped", async () => {
    const { server, standby } = cluster;
    const { create, list } = clientOf(server, server);
    await untilUsed(server, list);
    await standby.query("SELECT pg_promote()");
    const promoted = await counted(server);
    await create("promoted");
    assert.ok((await list()).includes("promoted"));
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.ok((await list()).includes("promoted"));
    const { reads, not_standby } = await counted(server);
    assert.equal(reads, promoted.reads);
    assert.ok(not_standby! > promoted.not_standby!);
    await standby.stop("SIGQUIT");
    await create("stopped");
    await untilTrue(async () => {
      assert.ok((await list()).includes("stopped"));
      // The proxy accepts connections, and has nowhere to send them.
      return (await counted(server)).slow! > promoted.slow!;
    });
  });
});

async function slowestOf(count: number, call: () => Promise<unknown>): Promise<number> {
  let slowest = 0;
  for (let i = 0; i < count; i++) {
    const begunAt = performance.now();
    await call();
    slowest = Math.max(slowest, performance.now() - begunAt);
  }
  return slowest;
}

describe("a replica", () => {
  it("a standby of another primary is not used as a replica", async () => {
    await using opened = new AsyncDisposableStack();
    const [, foreign] = await startStreaming(opened);
    const primary = opened.use(await startDebianPostgres());
    await primary.query("CREATE DATABASE gatehouse");
    const settings = { databaseUrl: primary.url("gatehouse"), databaseReplicaUrl: foreign.url("gatehouse") };
    const server = opened.use(await startTestServer({ settings }));
    await clientOf(server, server).list();
    const { reads, not_standby } = await counted(server);
    assert.deepEqual({ reads, not_standby }, { reads: 0, not_standby: 1 });
  });
});
