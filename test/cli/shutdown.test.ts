// A server that is told to stop serves on for the shutdown delay, while it tells balancers to turn to others.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../gen/health/v1/health_pb.ts";
import { freePort } from "../harness/postgres.ts";
import { isQuick } from "../harness/quick.ts";
import { startTestServer } from "../harness/server.ts";
import { dataDirectory, type Running, start } from "./process.ts";

interface Served extends Running, Disposable {
  readonly url: string;
  /** Resolves once /readyz says that the server is about to stop. */
  leaving(): Promise<void>;
}

async function serve(...args: string[]): Promise<Served> {
  const data = dataDirectory();
  const listen = `127.0.0.1:${await freePort()}`;
  const settings = ["--base-url", "https://localhost", "--data-dir", data.path, "--listen", listen];
  const running = start(["serve", ...settings, ...args]);
  await running.said(/secrets/);
  const url = `http://${listen}`;
  return {
    ...running,
    url,
    async leaving() {
      let reply = await fetch(`${url}/readyz`);
      while (reply.status === 200) {
        await setTimeout(20);
        reply = await fetch(`${url}/readyz`);
      }
      assert.deepEqual([reply.status, await reply.text()], [503, "stopping\n"]);
    },
    [Symbol.dispose]() {
      running.child.kill("SIGKILL");
      data[Symbol.dispose]();
    },
  };
}

describe("the shutdown delay", () => {
  it("leaves the port open and serves, while /readyz and health say no; a second SIGTERM ends it", async () => {
    using server = await serve("--shutdown-delay", "3600");
    const health = createClient(Health, createGrpcTransport({ baseUrl: server.url }));
    const cancel = new AbortController();
    const watch = health.watch({}, { signal: cancel.signal })[Symbol.asyncIterator]();
    const next = async () => (await watch.next()).value?.status;
    assert.equal(await next(), Status.SERVING);
    assert.equal((await health.check({})).status, Status.SERVING);

    server.child.kill("SIGTERM");
    await server.leaving();
    assert.equal((await health.check({})).status, Status.NOT_SERVING);
    assert.equal(await next(), Status.NOT_SERVING);
    const reply = await fetch(`${server.url}/iam/v2beta1/groups`);
    assert.deepEqual([reply.status, reply.headers.get("connection")], [401, "keep-alive"]);
    assert.equal((await fetch(`${server.url}/healthz`)).status, 200);

    server.child.kill("SIGTERM");
    assert.equal((await server.finished).code, 0);
    assert.equal(await next(), undefined);
  });

  it("the delay ends by itself, also for SIGINT", { skip: isQuick }, async () => {
    using server = await serve("--shutdown-delay", "1");
    server.child.kill("SIGINT");
    await server.leaving();
    assert.equal((await server.finished).code, 0);
  });

  it("once the delay is over, another SIGTERM ends a server that still waits for the body of a request", async () => {
    using server = await serve("--shutdown-delay", "1", "--drain-timeout", "10");
    const client = connect(Number(new URL(server.url).port), "127.0.0.1").on("error", () => {});
    client.write("POST /sts/token HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n");
    client.write("Content-Type: application/x-www-form-urlencoded\r\n\r\n");
    server.child.kill("SIGTERM");
    const isListening = () =>
      fetch(`${server.url}/healthz`).then(
        () => true,
        () => false,
      );
    while (await isListening()) await setTimeout(20);
    server.child.kill("SIGTERM");
    assert.notEqual((await server.finished).code, 0);
    client.destroy();
  });

  it("a SIGTERM that a launcher passes on a second time does not end the delay", async () => {
    using data = dataDirectory();
    const listen = `127.0.0.1:${await freePort()}`;
    const settings = ["--base-url", "https://localhost", "--data-dir", data.path, "--listen", listen];
    // The program announces that it listens by sending SIGUSR2 to its launcher.
    process.once("SIGUSR2", () => {});
    const running = start(["serve", ...settings, "--shutdown-delay", "3600"], {
      GATEHOUSE_LAUNCHER_PID: String(process.pid),
    });
    await running.said(/secrets/);
    running.child.kill("SIGTERM");
    await running.logged(/"msg":"stopping"/);
    running.child.kill("SIGTERM");
    assert.equal((await fetch(`http://${listen}/healthz`)).status, 200);
    // After a second it is another one.
    await setTimeout(1100);
    running.child.kill("SIGTERM");
    assert.equal((await running.finished).code, 0);
  });

  it("a delay of zero still fails /readyz on open connections", async () => {
    await using server = await startTestServer();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const status = async () => {
      const [reply] = await once(request(`${server.url}/readyz`, { agent }).end(), "response");
      reply.resume();
      await once(reply, "end");
      return reply.statusCode;
    };
    assert.equal(await status(), 200);
    const drained = server.server.drain();
    assert.equal(await status(), 503);
    await drained;
    agent.destroy();
  });
});
