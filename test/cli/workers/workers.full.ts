// A server with several workers behaves as one: its port, its signals, its metrics, its log.
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect as connectPlain, createServer } from "node:net";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { connect, type TLSSocket } from "node:tls";
import { freePort } from "../../harness/postgres.ts";
import { certificate, certificateKey, otherCertificate, otherCertificateKey } from "../../transport/certificate.ts";
import { dataDirectory, type Running, run, start } from "../process.ts";

const groupsPath = "/iam/v2beta1/groups";

/** Opens a connection to the server. */
async function open(port: number): Promise<TLSSocket> {
  const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
  socket.on("error", () => {});
  await once(socket, "secureConnect");
  return socket;
}

/** Sends a text, and returns the status of the response; undefined if the connection ends without one. */
async function respond(socket: TLSSocket, text: string): Promise<number | undefined> {
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk;
  });
  socket.write(text);
  while (!received.includes("\r\n\r\n") && !socket.closed)
    await Promise.race([once(socket, "data"), once(socket, "close")]).catch(() => {});
  return Number(/^HTTP\/1\.1 (\d+)/.exec(received)?.[1]) || undefined;
}

/** Requests a list without a token: 401. */
async function denied(port: number): Promise<void> {
  const socket = await open(port);
  assert.equal(await respond(socket, `GET ${groupsPath} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`), 401);
}

describe("serve --workers 2", () => {
  const data = dataDirectory();
  let port: number;
  let metricsUrl: string;
  let server: Running;

  before(async () => {
    writeFileSync(path.join(data.path, "cert.pem"), certificate);
    writeFileSync(path.join(data.path, "key.pem"), certificateKey, { mode: 0o600 });
    port = await freePort();
    const metrics = `127.0.0.1:${await freePort()}`;
    metricsUrl = `http://${metrics}/metrics`;
    const files = ["--tls-cert", path.join(data.path, "cert.pem"), "--tls-key", path.join(data.path, "key.pem")];
    const listen = ["--listen", `127.0.0.1:${port}`, "--metrics-listen", metrics];
    server = start([
      "serve",
      "--workers",
      "2",
      "--base-url",
      "https://localhost",
      "--data-dir",
      data.path,
      ...listen,
      ...files,
    ]);
    await server.said(/secrets/);
  });
  after(() => {
    server.child.kill("SIGKILL");
    data[Symbol.dispose]();
  });

  /** Returns the process id of a worker, from the line of the call that it served nth. */
  const pidOf = async (worker: number, nth = 1) =>
    Number(JSON.parse(await server.logged(new RegExp(`"worker":${worker},"requestId"`), nth)).pid);

  const calls = async () => {
    const text = await (await fetch(metricsUrl)).text();
    const counts = [...text.matchAll(/^gatehouse_call_duration_seconds_count\{.*"ListGroups".*\} (\d+)$/gm)];
    assert.match(text, /^gatehouse_build_info\{.*\} 1$/m);
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  };

  it("prints one start, deals connections to both, and adds up their metrics", async () => {
    for (let i = 0; i < 6; i++) await denied(port);
    assert.deepEqual(await Promise.all(Array.from({ length: 12 }, calls)), new Array(12).fill(6));
    assert.notEqual(await pidOf(1), await pidOf(2));
    assert.equal(await calls(), 6);
    assert.ok(
      server.hasSaid(
        /^Starting Gatehouse…\nGatehouse [^\n]* listens on https:[^\n]*\n {2}mode [^\n]*\n {2}workers {2}2 processes\n/,
      ),
    );
    assert.ok(!server.hasSaid(/listens.*listens/s));
  });

  it("replaces a worker that is killed, and the requests of the other one complete", async () => {
    const sockets = await Promise.all(Array.from({ length: 16 }, () => open(port)));
    for (const socket of sockets) socket.write(`GET ${groupsPath} HTTP/1.1\r\nHost: a\r\n`);
    await setTimeout(100);
    const killed = await pidOf(1);
    process.kill(killed, "SIGKILL");
    assert.match(await server.logged(/a worker ended; starting another/), /"worker":1,.*"signal":"SIGKILL"/);
    const statuses = await Promise.all(sockets.map((socket) => respond(socket, "\r\n")));
    const completed = statuses.filter((status) => status === 401).length;
    assert.deepEqual(new Set(statuses), new Set([401, undefined]));
    // Both had some: a busy worker is dealt fewer.
    assert.ok(completed >= 1 && completed <= 15, `${completed} of 16 completed`);
    for (const socket of sockets) socket.destroy();
    // Every connection is served meanwhile.
    let served = 6 + completed;
    for (let isBack = false; !isBack; served++) {
      await denied(port);
      isBack = /"worker":1,"requestId"/.test(await server.logged(/"requestId"/, served + 1));
    }
    // The calls of the worker that was killed still count, as far as they were read.
    assert.equal(await calls(), served);
  });

  it("reloads the settings in all workers", async () => {
    writeFileSync(path.join(data.path, "cert.pem"), otherCertificate);
    writeFileSync(path.join(data.path, "key.pem"), otherCertificateKey);
    server.child.kill("SIGHUP");
    await server.logged(/"msg":"reloaded the certificate/);
    const shown = async () => {
      const socket = await open(port);
      const serial = socket.getPeerX509Certificate()?.serialNumber;
      socket.destroy();
      return serial;
    };
    assert.equal(new Set(await Promise.all(Array.from({ length: 8 }, shown))).size, 1);
    writeFileSync(path.join(data.path, "key.pem"), certificateKey);
    server.child.kill("SIGHUP");
    assert.match(await server.logged(/reloading the settings failed/), /"reason":"tls-key: .* is not the key of /);
  });

  it("finishes the requests of all workers at SIGTERM, and ends", async () => {
    const sockets = await Promise.all(Array.from({ length: 8 }, () => open(port)));
    for (const socket of sockets) socket.write(`GET ${groupsPath} HTTP/1.1\r\nHost: a\r\n`);
    await setTimeout(100);
    const pids = await Promise.all([pidOf(1), pidOf(2)]);
    // As systemd does: all processes get the signal.
    for (const pid of [...pids.slice(1), server.child.pid!]) process.kill(pid, "SIGTERM");
    await server.logged(/"msg":"stopping"/);
    const statuses = await Promise.all(sockets.map((socket) => respond(socket, "\r\n")));
    assert.deepEqual(
      statuses,
      statuses.map(() => 401),
    );
    const { code, stderr } = await server.finished;
    assert.equal(code, 0, stderr);
    for (const line of stderr.trim().split("\n")) JSON.parse(line);
  });
});

describe("serve --workers", () => {
  it("keeps its port when a worker is killed that served the first request", async () => {
    using data = dataDirectory();
    const listen = `127.0.0.1:${await freePort()}`;
    const settings = ["--base-url", "https://localhost", "--data-dir", data.path, "--listen", listen];
    const server = start(["serve", "--workers", "2", ...settings]);
    // All of them listen.
    await server.said(/secrets/);
    await fetch(`http://${listen}${groupsPath}`);
    process.kill(JSON.parse(await server.logged(/"transport":"rest"/)).pid, "SIGKILL");
    for (let i = 0; i < 200; i++)
      await fetch(`http://${listen}/healthz`, { headers: { connection: "close" } }).catch(({ cause }) =>
        assert.notEqual(cause.code, "ECONNREFUSED"),
      );
    server.child.kill("SIGTERM");
    await server.finished;
  });

  it("reports once why it cannot start", async () => {
    using data = dataDirectory();
    const blocker = createServer().listen(0, "127.0.0.1");
    await once(blocker, "listening");
    const listen = `127.0.0.1:${(blocker.address() as { port: number }).port}`;
    const settings = ["--base-url", "https://localhost", "--data-dir", data.path, "--listen", listen];
    const { code, stdout, stderr } = await run(["serve", "--workers", "2", ...settings]);
    blocker.close();
    const reason = `gatehouse: listen: ${listen} is taken by another program; --listen names another.\n`;
    assert.deepEqual({ code, stdout, stderr }, { code: 1, stdout: "Starting Gatehouse…\n", stderr: reason });
  });

  it("does not start a worker because of a variable", async () => {
    const { code, stderr } = await run(["serve"], { GATEHOUSE_WORKER_NUMBER: "1" });
    assert.equal(code, 2);
    assert.match(stderr, /GATEHOUSE_WORKER_NUMBER is not a setting and has no effect.*base-url: is required/s);
  });

  it("closes the connection that a worker was given, but had not taken when it ended", async () => {
    using data = dataDirectory();
    const port = await freePort();
    const settings = ["--base-url", "https://localhost", "--data-dir", data.path, "--listen", `127.0.0.1:${port}`];
    const server = start(["serve", "--workers", "2", ...settings]);
    await server.said(/secrets/);
    const ended: string[] = [];
    const request = async () => {
      const socket = connectPlain(port, "127.0.0.1").on("error", () => {});
      let received = "";
      socket.on("data", (chunk) => {
        received += chunk;
      });
      socket.write(`GET ${groupsPath} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      await once(socket, "close").catch(() => {});
      ended.push(received.slice(0, 12));
    };
    await Promise.all([request(), request()]);
    const { pid } = JSON.parse(await server.logged(/"worker":2,"requestId"/));
    process.kill(pid, "SIGSTOP");
    const requests = Promise.all([request(), request(), request(), request()]);
    // The worker that is stopped has one of them.
    while (ended.length < 5) await setTimeout(10);
    process.kill(pid, "SIGKILL");
    await requests;
    assert.deepEqual(ended, [...new Array(5).fill("HTTP/1.1 401"), ""]);
    server.child.kill("SIGTERM");
    await server.finished;
  });

  it("ends with its primary, even if that is killed", async () => {
    using data = dataDirectory();
    const listen = `127.0.0.1:${await freePort()}`;
    const settings = ["--base-url", "https://localhost", "--data-dir", data.path, "--listen", listen];
    const server = start(["serve", "--workers", "2", ...settings]);
    await server.said(/secrets/);
    server.child.kill("SIGKILL");
    // The workers hold standard output: it closes once they have ended.
    await server.finished;
    await assert.rejects(fetch(`http://${listen}/healthz`));
  });
});
