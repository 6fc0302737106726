// `npm run suites -- database`: a server goes on at the standby when its primary stops.
import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { after, describe, it } from "node:test";
import { openDatabase } from "../../../src/storage/database.ts";
import { defaultDatabaseLimits } from "../../../src/storage/engine/dialect.ts";
import { StorageUnavailable } from "../../../src/storage/engine/errors.ts";
import { writeSetting } from "../../../src/storage/engine/settings.ts";
import { openApiClient } from "../../harness/api-clients.ts";
import type { DebianServer } from "../../harness/debian-postgres.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { untilTrue } from "../../harness/until.ts";
import { openSilentProxy } from "../silent-proxy.ts";
import { skipWithout } from "./programs.ts";
import { startStreaming } from "./streaming.ts";

skipWithout("postgres");

/** Returns a primary whose commits wait for its standby. */
async function startReplicated(opened: AsyncDisposableStack): Promise<[primary: DebianServer, standby: DebianServer]> {
  const [primary, standby] = await startStreaming(opened);
  await primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
  await primary.query("SELECT pg_reload_conf()");
  await untilTrue(async () => {
    const [row] = await primary.query("SELECT sync_state FROM pg_stat_replication");
    return row?.sync_state === "sync";
  });
  return [primary, standby];
}

/** Calls of a client that creates groups. */
interface Load {
  /** When each acknowledged group was created, by name. */
  readonly acknowledged: Map<string, number>;
  /** The errors of failed calls. */
  readonly failures: string[];
  end(): Promise<void>;
}

/** Creates groups without pause, by REST and by gRPC. */
function startLoad({ url, groupUid, ownerToken }: TestServer): Load {
  const acknowledged = new Map<string, number>();
  const failures: string[] = [];
  const grpc = openApiClient("grpc", url);
  let isOver = false;

  async function create(name: string, overGrpc: boolean): Promise<string | undefined> {
    if (overGrpc) {
      const method = "/chainguard.platform.iam.v2beta1.GroupsService/CreateGroup";
      const { code } = await grpc.call(ownerToken, method, { parent: groupUid, group: { name } });
      return code === 0 ? undefined : `gRPC ${code}`;
    }
    const reply = await rest(url, ownerToken, "POST", `/iam/v2beta1/groups/${groupUid}`, { name });
    if (reply.status === 200) return undefined;
    return `${reply.status}, Retry-After ${reply.headers.has("retry-after") ? "set" : "missing"}`;
  }

  async function write(writer: number): Promise<void> {
    for (let count = 0; !isOver; count++) {
      const name = `group-${writer}-${count}`;
      const failed = await create(name, writer % 4 === 0);
      if (failed === undefined) acknowledged.set(name, performance.now());
      else {
        failures.push(failed);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }
  const writers = Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
  return {
    acknowledged,
    failures,
    async end() {
      isOver = true;
      await writers;
      grpc[Symbol.dispose]();
    },
  };
}

/** Fails the primary under load, and promotes the standby. A write must succeed soon after. */
async function failOver(
  t: { diagnostic(message: string): void },
  databaseUrl: string,
  standby: DebianServer,
  maxGapMs: number,
  fail: () => Promise<void>,
): Promise<void> {
  const lines: string[] = [];
  const log = new Writable({ write: (line, _encoding, done) => done(void lines.push(String(line))) });
  await using server = await startTestServer({ settings: { databaseUrl }, log });
  const load = startLoad(server);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const before = load.acknowledged.size;
  assert.ok(before > 0, `no write succeeded: ${[...new Set(load.failures)]}`);
  assert.deepEqual(load.failures, []);
  await fail();
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const promotedAt = performance.now();
  await standby.query("SELECT pg_promote()");
  await untilTrue(async () => [...load.acknowledged.values()].some((at) => at > promotedAt));
  const firstAt = Math.min(...[...load.acknowledged.values()].filter((at) => at > promotedAt));
  await new Promise((resolve) => setTimeout(resolve, 1000));
  await load.end();
  const stored = new Set((await standby.query("SELECT name FROM groups", "gatehouse")).map(({ name }) => name));
  const lost = [...load.acknowledged.keys()].filter((name) => !stored.has(name));
  const gapMs = Math.round(firstAt - promotedAt);
  t.diagnostic(
    `${gapMs} ms from promotion to the next write; ${load.acknowledged.size} acknowledged, ${load.failures.length} failed`,
  );
  assert.deepEqual(lost, []);
  assert.ok(gapMs <= maxGapMs, `${gapMs} ms`);
  const allowed = new Set(["503, Retry-After set", "gRPC 14"]);
  assert.deepEqual(
    load.failures.filter((failure) => !allowed.has(failure)),
    [],
  );
  assert.equal((await fetch(`${server.url}/readyz`)).status, 200);
  const moved = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === "database_host_changed");
  assert.deepEqual(
    moved.map(({ host }) => host),
    [`127.0.0.1:${standby.port}`],
  );
}

describe("a server on a primary with a synchronous standby", () => {
  const opened = new AsyncDisposableStack();
  after(() => opened.disposeAsync());

  it("continues on the promoted standby when the primary stops", async (t) => {
    const [primary, standby] = await startReplicated(opened);
    const databaseUrl = `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/gatehouse?target_session_attrs=read-write`;
    await failOver(t, databaseUrl, standby, 3000, () => primary.stop("SIGQUIT"));
  });

  it("continues on the promoted standby when the primary no longer responds", async (t) => {
    const [primary, standby] = await startReplicated(opened);
    const proxy = opened.use(await openSilentProxy(primary.port));
    const databaseUrl = `postgres://postgres@127.0.0.1:${proxy.port},127.0.0.1:${standby.port}/gatehouse`;
    await failOver(t, databaseUrl, standby, 5000, async () => {
      proxy.silence({ all: true });
      await primary.stop("SIGQUIT");
    });
  });

  it("acknowledges no write whose standby did not confirm it, however long that takes", async () => {
    const [primary, standby] = await startReplicated(opened);
    const limits = { ...defaultDatabaseLimits, statementTimeoutMs: 500, closeTimeoutMs: 100 };
    const database = await openDatabase(primary.url("gatehouse"), limits);
    await standby.stop("SIGQUIT");
    const write = (isBulk: boolean) =>
      database.write({ actor: "", method: "test", requestId: "", time: 0, isBulk }, (tx) =>
        writeSetting(tx, "colour", "red"),
      );
    for (const isBulk of [false, true])
      await assert.rejects(write(isBulk), (error) => error instanceof StorageUnavailable);
    assert.deepEqual(await primary.query("SELECT * FROM settings WHERE name = 'colour'", "gatehouse"), []);
    await database.close();
  });
});
