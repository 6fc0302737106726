import assert from "node:assert/strict";
import { test } from "node:test";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { Health } from "../../../gen/health/v1/health_pb.ts";
import type { HttpHandler } from "../../../src/transport/http/handlers.ts";
import type { HttpResponse } from "../../../src/transport/http/message.ts";
import { flag, frame, frameClient, frameType, headerBlock, request, reset } from "../frames.ts";
import { echo, exchange, gate, get, get2, listen, rawClient, session, write } from "../harness.ts";

const checkPath = `/${Health.typeName}/Check`;
const connectHandler: HttpHandler = connectNodeAdapter({ routes: (router) => void router.service(Health, {}) });

const hosts: [name: string, head: string][] = [
  ["Host: a%zz", `POST ${checkPath} HTTP/1.1\r\nHost: a%zz\r\n`],
  ["an empty Host", `POST ${checkPath} HTTP/1.1\r\nHost:\r\n`],
  ["HTTP/1.0 without Host", `POST ${checkPath} HTTP/1.0\r\n`],
];

for (const [name, head] of hosts) {
  test(`guard: ${name} makes connect-node throw: 400, and the server lives`, async (t) => {
    const errors: unknown[] = [];
    const listener = await listen(t, { handler: connectHandler, onError: (error) => errors.push(error) });
    const headers = "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    assert.match(await exchange(t, listener, `${head}${headers}`), /^HTTP\/1\.1 400 .*\r\nConnection: close\r\n/s);
    assert.equal(errors.length, 1);
    assert.equal((await get(listener, checkPath)).status, 405);
  });
}

test("guard: an invalid :authority makes connect-node throw: 400, and the session goes on", async (t) => {
  const listener = await listen(t, { handler: connectHandler });
  const client = frameClient(listener.address.port);
  t.after(() => client.socket.destroy());
  const pseudo: [string, string][] = [
    [":method", "POST"],
    [":scheme", "http"],
    [":path", checkPath],
    [":authority", "["],
  ];
  client.send(frame(frameType.headers, flag.endHeaders | flag.endStream, 1, headerBlock(pseudo)));
  // The status is written with the Huffman code (RFC 7541 §5.2); static entry 12 of the table is :status 400.
  assert.equal((await client.next((f) => f.stream === 1 && f.type === frameType.headers)).payload[0], 0x80 | 12);
  client.send(request(3, true, "/nowhere"));
  await client.next((f) => f.stream === 3 && f.type === frameType.headers);
});

const faults: [name: string, handler: HttpHandler][] = [
  [
    "throws",
    () => {
      throw new Error("fault");
    },
  ],
  ["rejects", () => Promise.reject(new Error("fault"))],
  [
    "throws after it has set headers",
    (_, response) => {
      response.setHeader("x-secret", "leak");
      throw new Error("fault");
    },
  ],
];

for (const [name, handler] of faults) {
  test(`guard: a handler that ${name} becomes a plain 400 over both versions of HTTP, and is reported`, async (t) => {
    const errors: unknown[] = [];
    const listener = await listen(t, { handler, onError: (error) => errors.push(error) });
    for (const reply of [await get(listener, "/"), await get2(session(t, listener), "/")]) {
      assert.deepEqual(
        [reply.status, reply.body, reply.headers["x-secret"]],
        [400, "the request is malformed\n", undefined],
      );
    }
    assert.deepEqual(errors.map(String), ["Error: fault", "Error: fault"]);
  });
}

test("guard: HEAD is rejected without a body, whose length is told (RFC 9110 §9.3.2)", async (t) => {
  const listener = await listen(t, { handler: () => Promise.reject(new Error("fault")) });
  const refused = [
    await get(listener, "/", { method: "HEAD" }),
    await get2(session(t, listener), "/", { ":method": "HEAD" }),
  ];
  for (const { status, body, headers } of refused)
    assert.deepEqual([status, body, headers["content-length"]], [400, "", "25"]);
});

test("guard: a handler that throws in the middle of a response cuts it off", async (t) => {
  const handler = (_: unknown, response: HttpResponse): void => {
    write(response, "begun");
    throw new Error("fault");
  };
  const listener = await listen(t, { handler });
  await assert.rejects(get(listener, "/"));
  await assert.rejects(get2(session(t, listener), "/"));
});

test("guard: a stream handler sees each stream first; where it throws, the stream is cut off and the session goes on", async (t) => {
  const errors: unknown[] = [];
  const listener = await listen(t, {
    limits: { maxHeaderBytes: 4096 },
    onError: (error) => errors.push(error),
    fast: (stream, headers) => {
      if (headers[":path"] === "/fault") throw new Error("fault");
      if (headers[":path"] !== "/fast") return false;
      stream.respond({ ":status": 200 });
      stream.end("taken");
      return true;
    },
  });
  const client = session(t, listener);
  await assert.rejects(get2(client, "/fault"), { code: "ERR_HTTP2_STREAM_ERROR" });
  assert.deepEqual(errors.map(String), ["Error: fault"]);
  assert.equal((await get2(client, "/fast")).body, "taken");
  assert.equal(JSON.parse((await get2(client, "/other")).body).url, "/other");
  const ignorant = frameClient(listener.address.port);
  t.after(() => ignorant.socket.destroy());
  ignorant.send(request(1, true, "/fast", [["x", "a".repeat(4000)]]));
  const refused = await ignorant.next((f) => f.stream === 1);
  assert.match(refused.payload.toString("latin1"), /431/);
});

test("guard: a response written to after its end is delivered, and reported", async (t) => {
  const errors: unknown[] = [];
  const handler: HttpHandler = (_, response) => {
    response.end("done");
    write(response, "more");
  };
  const listener = await listen(t, { handler, onError: (error) => errors.push(error) });
  assert.equal((await get(listener, "/")).body, "done");
  assert.match(String(errors), /write after end/);
});

test("guard: a response written on after the client has disconnected harms no other client", async (t) => {
  const left = [gate(), gate()];
  const written = gate();
  let calls = 0;
  const handler: HttpHandler = (received, response) => {
    if (received.url !== "/leave") return echo(received, response);
    left[calls++]?.resolve();
    response.once("close", () => {
      write(response, "late");
      response.end("later");
      if (calls === 2) setImmediate(written.resolve);
    });
  };
  const listener = await listen(t, { handler });
  const first = rawClient(t, listener);
  first.socket.write("GET /leave HTTP/1.1\r\nHost: a\r\n\r\n");
  await left[0]?.promise;
  first.socket.resetAndDestroy();
  const second = frameClient(listener.address.port);
  t.after(() => second.socket.destroy());
  second.send(request(1, true, "/leave"));
  await left[1]?.promise;
  second.send(reset(1));
  await written.promise;
  assert.equal((await get(listener, "/")).status, 200);
});

test("T14 guard: a second Authorization is seen by the handler, over both versions of HTTP", async (t) => {
  const listener = await listen(t);
  const two = "Authorization: Bearer a\r\nX: y\r\nauthorization: Bearer b\r\nAUTHORIZATION: Bearer c\r\n";
  const reply = await exchange(t, listener, `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${two}\r\n`);
  assert.match(reply, /"authorization":"Bearer a, Bearer b, Bearer c"/);
  const client = frameClient(listener.address.port);
  t.after(() => client.socket.destroy());
  client.send(
    request(1, true, "/", [
      ["authorization", "Bearer a"],
      ["x", "y"],
      ["authorization", "Bearer b"],
    ]),
  );
  const body = await client.next((f) => f.type === frameType.data && f.payload.length > 0);
  assert.match(body.payload.toString(), /"authorization":"Bearer a, Bearer b"/);
});

test("T14 guard: a single Authorization header is passed on unchanged", async (t) => {
  const listener = await listen(t);
  const headers = { authorization: "Bearer a,b" };
  for (const reply of [await get(listener, "/", { headers }), await get2(session(t, listener), "/", headers)]) {
    assert.equal(JSON.parse(reply.body).authorization, "Bearer a,b");
  }
});
