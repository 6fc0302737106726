// The order in which a server opens and closes its parts.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { type ClientRequest, request } from "node:http";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import pino from "pino";
import { toConfig } from "../../src/config/config.ts";
import { readSettings } from "../../src/config/read-settings.ts";
import { startServer } from "../../src/server/server.ts";
import type { StartHooks } from "../../src/server/start-hooks.ts";
import type { Database } from "../../src/storage/database.ts";
import { dataDirectory } from "../cli/process.ts";
import { accept, openSink, type Sink, startSendingServer } from "../events/sink.ts";
import { freePort } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import type { TestServer } from "../harness/server.ts";
import { addCaller, viewerRole } from "../security/tree.ts";

/** Reports whether something listens at host:port. */
async function isOpen(address: string): Promise<boolean> {
  const { port, hostname: host } = new URL(`http://${address}`);
  const socket = connect({ host, port: Number(port) });
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Calls `look` when the database is about to be closed. */
function beforeClose(database: Database, look: () => Promise<void>): void {
  const { close } = database;
  Object.assign(database, {
    close: async () => {
      await using _ = { [Symbol.asyncDispose]: close };
      await look();
    },
  });
}

describe("a start that fails", () => {
  const failure = async () => {
    throw new Error("not today");
  };
  /** Takes the port of the server just before it listens. */
  const take = async (blocker: Server, { port, hostname }: URL) => {
    await once(blocker.listen(Number(port), hostname), "listening");
  };
  const cases: [when: string, hooks: (blocker: Server, address: URL) => StartHooks, message: RegExp][] = [
    ["before it writes", () => ({ admit: failure }), /^not today$/],
    ["before it listens", () => ({ prepare: failure }), /^not today$/],
    [
      "because its port is taken meanwhile, after that of the metrics was opened",
      (blocker, address) => ({ prepare: () => take(blocker, address) }),
      /^listen: .* is taken/,
    ],
  ];
  it("rejects with its own error if closing fails too", async () => {
    using data = dataDirectory();
    const listen = `127.0.0.1:${await freePort()}`;
    const config = toConfig(readSettings({ dev: true, dataDir: data.path, listen }, {}));
    const admit = async (database: Database) => {
      beforeClose(database, () => Promise.reject(new Error("nor now")));
    };
    const hooks = { admit, prepare: failure };
    await assert.rejects(startServer(config, pino({ level: "silent" }), undefined, hooks), { message: "not today" });
  });

  for (const [when, hooksOf, message] of cases) {
    it(`${when}, closes what it has opened, and the database last`, async () => {
      const blocker = createServer();
      using data = dataDirectory();
      const metricsListen = `127.0.0.1:${await freePort()}`;
      const listen = `127.0.0.1:${await freePort()}`;
      const hooks = hooksOf(blocker, new URL(`http://${listen}`));
      const config = toConfig(readSettings({ dev: true, dataDir: data.path, listen, metricsListen }, {}));
      let opened: Database | undefined;
      let wereMetricsOpen: boolean | undefined;
      const admit = async (database: Database) => {
        opened = database;
        beforeClose(database, async () => {
          wereMetricsOpen = await isOpen(metricsListen);
          await database.check();
        });
        await hooks.admit?.(database);
      };
      await assert.rejects(startServer(config, pino({ level: "silent" }), undefined, { ...hooks, admit }), { message });
      assert.equal(wereMetricsOpen, false);
      await assert.rejects(opened!.check());
      blocker.close();
    });
  }
});

describe("a start whose port another program has", () => {
  it("creates no database", async () => {
    using data = dataDirectory();
    const blocker = createServer().listen(0, "127.0.0.1");
    await once(blocker, "listening");
    const listen = `127.0.0.1:${(blocker.address() as AddressInfo).port}`;
    const config = toConfig(readSettings({ dev: true, dataDir: data.path, listen }, {}));
    await assert.rejects(startServer(config, pino({ level: "silent" })), /^Error: listen: .* is taken/);
    assert.deepEqual(readdirSync(data.path), []);
    blocker.close();
  });
});

describe("a start that fails after it opened its database", () => {
  it("does not tie the data to its base URL", async () => {
    using data = dataDirectory();
    const start = async (baseUrl: string, hooks: StartHooks = {}) => {
      const listen = `127.0.0.1:${await freePort()}`;
      const config = toConfig(readSettings({ baseUrl, dataDir: data.path, listen }, {}));
      return await startServer(config, pino({ level: "silent" }), undefined, hooks);
    };
    const prepare = () => Promise.reject(new Error("not today"));
    await assert.rejects(start("https://typo.example.com", { prepare }), /not today/);
    await (await start("https://right.example.com"))[Symbol.asyncDispose]();
    await assert.rejects(start("https://typo.example.com"), /the data was made under https:\/\/right\.example\.com/);
  });
});

/** A server with a request, a delivery and a denial in progress. */
interface BusyServer extends AsyncDisposable {
  readonly server: TestServer;
  readonly metricsListen: string;
  readonly call: ClientRequest;
  readonly reply: Promise<number>;
  /** Completes the delivery. */
  deliver(): void;
  readonly sink: Sink;
}

async function openBusyServer(): Promise<BusyServer> {
  await using stack = new AsyncDisposableStack();
  const sink = stack.use(await openSink());
  const metricsListen = `127.0.0.1:${await freePort()}`;
  const server = stack.use(await startSendingServer({ settings: { metricsListen } }));
  const viewer = await addCaller(server, server.groupUid, viewerRole.uid);
  // The second denial of a minute becomes an entry at its end, or when the server stops.
  for (let i = 0; i < 2; i++)
    assert.equal(
      (await rest(server.url, viewer.token, "DELETE", `/iam/v2beta1/groups/${server.groupUid}`)).status,
      403,
    );

  const held = Promise.withResolvers<void>();
  sink.answer = async (received, response) => {
    await held.promise;
    accept(received, response);
  };
  const subscription = { sink: sink.url };
  await rest(server.url, server.ownerToken, "POST", `/events/v2beta1/subscriptions/${server.groupUid}`, subscription);
  await sink.wait(1);

  const call = request(`${server.url}/iam/v2beta1/groups/${server.groupUid}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${server.ownerToken}`,
      "content-type": "application/json",
      expect: "100-continue",
    },
  });
  const reply = once(call, "response").then(([{ statusCode }]) => statusCode);
  reply.catch(() => {});
  call.flushHeaders();
  // The server waits for the body.
  await once(call, "continue");
  const opened = stack.move();
  return {
    server,
    metricsListen,
    call,
    reply,
    sink,
    deliver: held.resolve,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Returns the counts of the denials in the audit log of a file. */
function denialsIn(file: string): number[] {
  using database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare(`SELECT "after" FROM changes WHERE kind = 'denials' ORDER BY sequence`).all();
  return rows.map((row) => JSON.parse(String(row.after)).count);
}

describe("a stop", () => {
  it("drains requests and deliveries, then closes the metrics, the audit log and the database", async () => {
    await using busy = await openBusyServer();
    const { server, metricsListen, call, reply } = busy;
    const { database } = server.server;
    let atClose: unknown;
    beforeClose(database, async () => {
      atClose = { areMetricsOpen: await isOpen(metricsListen), denials: denialsIn(server.config.databaseUrl) };
    });
    let isDrained = false;
    const drained = server.server.drain().then(() => {
      isDrained = true;
    });
    while (await isOpen(new URL(server.url).host));
    assert.equal(await isOpen(metricsListen), true);

    call.end(JSON.stringify({ name: "late" }));
    assert.equal(await reply, 200);
    // The delivery is still in progress.
    assert.deepEqual([await isOpen(metricsListen), isDrained], [true, false]);
    await database.check();

    busy.deliver();
    await drained;
    assert.deepEqual(atClose, { areMetricsOpen: false, denials: [1, 1] });
    await assert.rejects(database.check());
  });

  it("an immediate stop aborts requests and deliveries, and still writes the audit log", async () => {
    await using busy = await openBusyServer();
    const { server, metricsListen, reply } = busy;
    let denials: unknown;
    beforeClose(server.server.database, async () => {
      denials = denialsIn(server.config.databaseUrl);
    });
    const disposed = server.server[Symbol.asyncDispose]();
    await assert.rejects(reply);
    await disposed;
    assert.deepEqual([await isOpen(metricsListen), denials], [false, [1, 1]]);
    busy.deliver();
  });
});
