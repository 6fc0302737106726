// Bodies over HTTP/1 that are left before their end, by a handler or by connect-node: the reply gets through, the connection goes on,
// and nobody else is harmed.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { PingService } from "../../gen/chainguard/platform/ping/v2beta1/ping_pb.ts";
import { Health } from "../../gen/health/v1/health_pb.ts";
import { startTestServer } from "../harness/server.ts";
import { collect, listen, rawClient } from "./harness.ts";

const head = (path: string, type: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`;
const chunk = `10000\r\n${"\0".repeat(0x10000)}\r\n`;
const next = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

test("http1: a handler may leave a body before its end", async (t) => {
  const listener = await listen(t, {
    async handler(request, response) {
      for await (const _ of request) break;
      response.end("early");
    },
  });
  const client = rawClient(t, listener);
  client.socket.write(`${head("/", "text/plain")}${chunk}`);
  await client.until(/early/);
});

const paths = [`/${PingService.typeName}/Ping`, `/${Health.typeName}/Check`, `/${Health.typeName}/Watch`];
const types = ["grpc", "grpc-web", "json; charset=utf-8", "connect+proto"];

test("http1: a body that connect-node leaves unread keeps no connection, and ends no process", async (t) => {
  await using server = await startTestServer();
  const port = Number(new URL(server.url).port);

  /** Returns the replies to a request of 6 MiB and another behind it, from a client that sends all before it listens. */
  async function replies(path: string, type: string): Promise<string[]> {
    const socket = connect(port, "127.0.0.1");
    t.after(() => socket.destroy());
    const client = collect(socket);
    socket.write(`${head(path, `application/${type}`)}${chunk.repeat(96)}0\r\n\r\n${next}`);
    return (await client.ended).match(/HTTP\/1\.1 \d+/g) ?? [];
  }

  const calls = paths.flatMap((path) => types.map((type) => [path, type] as const));
  const answered = await Promise.all(calls.map((call) => replies(...call)));
  for (const [i, found] of answered.entries()) assert.notEqual(found.length, 0, `no reply: ${calls[i]}`);
  assert.equal((await fetch(`${server.url}/healthz`)).status, 200);
});
