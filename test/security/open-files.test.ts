// D: a server that can open no more files stays up, also where something is loaded when it is first asked for.
import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { it } from "node:test";
import { dataDirectory, start } from "../cli/process.ts";
import { freePort } from "../harness/postgres.ts";

const openFiles = 128;
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
const health = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
const rpc = `POST /chainguard.platform.iam.v2beta1.GroupsService/ListGroups HTTP/1.1
Host: localhost
Content-Type: application/json
Content-Length: 2

{}`.replaceAll("\n", "\r\n");

it("D: connections that use up all file descriptors do not end the process", async (t) => {
  using data = dataDirectory();
  const port = await freePort();
  const server = start(
    ["serve", "--dev", "--data-dir", data.path, "--listen", `127.0.0.1:${port}`, "--log-level", "silent"],
    {},
    openFiles,
  );
  t.after(() => server.child.kill("SIGKILL"));
  await server.said(/owner-token/);
  const open = () => connect(port, "127.0.0.1").on("error", () => {});
  const [overHttp2, overHttp1] = [open(), open()];
  overHttp1.write(health);
  // Connections are accepted in their order: the server has the first one, too.
  await new Promise((resolve) => overHttp1.once("data", resolve));

  const others: Socket[] = [];
  for (const [socket, request] of [[overHttp2, preface] as const, [overHttp1, rpc] as const]) {
    const more = Array.from({ length: 2 * openFiles }, open);
    others.push(...more);
    await Promise.race([...more.map(closed), server.finished]);
    socket.write(request);
    // If a file descriptor became free just then, the server responds and leaves the connection open.
    await Promise.race([closed(socket), answered(socket), server.finished]);
  }
  for (const other of others) other.destroy();

  const status = await statusOverHttp2(port, server.child);
  if (status === undefined) assert.fail((await server.finished).stderr);
  assert.equal(status, 200);
});

function closed(socket: Socket): Promise<void> {
  if (socket.closed) return Promise.resolve();
  return new Promise((resolve) => socket.resume().once("close", () => resolve()));
}

function answered(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once("data", () => resolve()));
}

/** Asks until the server has seen that the others are gone. */
async function statusOverHttp2(port: number, child: ChildProcess): Promise<unknown> {
  while (child.exitCode === null && child.signalCode === null) {
    const status = await new Promise((resolve) => {
      const session = connectHttp2(`http://127.0.0.1:${port}`);
      const end = (answer?: unknown) => {
        session.destroy();
        resolve(answer);
      };
      session.on("error", () => end()).on("close", () => end());
      session
        .request({ ":path": "/healthz" })
        .on("error", () => end())
        .on("response", (headers) => end(headers[":status"]));
    });
    if (status !== undefined) return status;
  }
  return undefined;
}
