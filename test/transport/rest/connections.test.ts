// Tests of the transport's use of connections, down to the bytes.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, it } from "node:test";
import { create, type Message } from "@bufbuild/protobuf";
import { type Group, GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { Code } from "../../../src/aip/errors.ts";
import type { Call } from "../../../src/pipeline/call.ts";
import { assertError } from "./answers.ts";
import { methodOf } from "./methods.ts";
import { openTransports, versions } from "./transports.ts";

const groups = GroupsService.method;
const json = ["content-type", "application/json"];
const calls: Call[] = [];

const methods = [
  methodOf(groups.listGroups),
  methodOf(groups.createGroup, (_, request) => (request as Message & { group: Group }).group),
  methodOf(
    groups.lookupGroup,
    (call) => {
      calls.push(call);
      return create(groups.lookupGroup.output);
    },
    true,
  ),
];

for (const version of versions) {
  describe(`slow requests over ${version}`, () => {
    it("D6: a body that never ends is rejected with 408", async () => {
      await using transports = await openTransports(methods, { bodyTimeoutMs: 50 });
      const sent = { method: "POST", path: "/iam/v2beta1/groups", headers: json, body: '{"name":', endless: true };
      const answer = await transports.send(version, sent);
      assertError(answer, 408, Code.DEADLINE_EXCEEDED, "Deadline exceeded: the body did not arrive in time");
    });

    it("a client that leaves in the middle of its body costs nothing", async () => {
      await using transports = await openTransports(methods);
      const sent = { method: "POST", path: "/iam/v2beta1/groups", headers: json, body: '{"name":', endless: true };
      await transports.leave(version, sent, new Promise((resolve) => setTimeout(resolve, 20)));
      assert.equal((await transports.send(version, { method: "GET", path: "/iam/v2beta1/groups" })).status, 200);
      assert.deepEqual(transports.reported, []);
    });

    it("a body that nobody reads does not hold the response back", async () => {
      await using transports = await openTransports(methods);
      for (const path of ["/iam/v2beta1/groups", "/nowhere", "/iam/v2beta1/groups:lookupGroup"]) {
        const answer = await transports.send(version, { method: "GET", path, headers: [], body: "a", endless: true });
        assert.ok([200, 404, 401].includes(answer.status));
      }
    });
  });
}

describe("connections of HTTP/1", () => {
  const request = (...lines: string[]) => `${lines.join("\r\n")}\r\n\r\n`;

  it("T14: two Authorization headers are seen as two", async () => {
    await using transports = await openTransports(methods);
    calls.length = 0;
    const headers = ["authorization", "Bearer a", "Authorization", "Bearer b"];
    await transports.send("http1", { method: "GET", path: "/iam/v2beta1/groups:lookupGroup", headers });
    assert.equal(calls[0]?.header("authorization"), "Bearer a, Bearer b");
  });

  it("stay open after a response that leaves a short body unread", async () => {
    await using transports = await openTransports(methods);
    await using socket = open(transports.port);
    for (let time = 0; time < 3; time++) {
      socket.send(
        `${request("POST /nowhere HTTP/1.1", "host: a", "content-type: application/json", "content-length: 2")}{}`,
      );
      assert.match(await socket.receive(), /^HTTP\/1\.1 404 [\s\S]*"Not Found"/);
    }
  });

  it("D6: end after a response that leaves a body without end unread", async () => {
    await using transports = await openTransports(methods, { maxBodyBytes: 1000, bodyTimeoutMs: 50 });
    await using socket = open(transports.port);
    socket.send(
      `${request("GET /iam/v2beta1/groups HTTP/1.1", "host: a", "transfer-encoding: chunked")}5\r\nhello\r\n`,
    );
    const answer = await socket.receive();
    assert.match(answer, /^HTTP\/1\.1 200 /);
    assert.match(answer, /\r\nconnection: close\r\n/i);
    await socket.ended;
  });

  it("F9: end after a body that is announced too long, once the response is out", async () => {
    await using transports = await openTransports(methods, { maxBodyBytes: 1000, bodyTimeoutMs: 50 });
    await using socket = open(transports.port);
    socket.send(
      request(
        "POST /iam/v2beta1/groups HTTP/1.1",
        "host: a",
        "content-type: application/json",
        "content-length: 9999999",
      ),
    );
    assert.match(await socket.receive(), /^HTTP\/1\.1 413 [\s\S]*"code":8/);
    await socket.ended;
  });

  it("D4: take a body in pieces of one byte", async () => {
    await using transports = await openTransports(methods);
    await using socket = open(transports.port);
    socket.send(
      request(
        "POST /iam/v2beta1/groups HTTP/1.1",
        "host: a",
        "content-type: application/json",
        "transfer-encoding: chunked",
      ),
    );
    for (const byte of '{"name":"abc"}') socket.send(`1\r\n${byte}\r\n`);
    socket.send("0\r\n\r\n");
    assert.match(await socket.receive(), /"name":"abc"/);
  });
});

describe("connections of HTTP/2", () => {
  it("T14: two Authorization headers are seen as two", async () => {
    await using transports = await openTransports(methods);
    calls.length = 0;
    const socket = connect(transports.port, "127.0.0.1");
    const fields = {
      ":method": "GET",
      ":scheme": "http",
      ":authority": "a",
      ":path": "/iam/v2beta1/groups:lookupGroup",
    };
    const block = [...Object.entries(fields), ["authorization", "Bearer a"], ["authorization", "Bearer b"]].map(
      literalField,
    );
    socket.write(
      Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(4, 0, 0), frame(1, 5, 1, ...block)]),
    );
    for await (const _ of socket) if (calls.length > 0) break;
    assert.equal(calls[0]?.header("authorization"), "Bearer a, Bearer b");
  });
});

/** RFC 9113 §4.1: a frame with its type, flags and stream. */
function frame(type: number, flags: number, stream: number, ...payload: Buffer[]): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(Buffer.concat(payload).length, 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, ...payload]);
}

/** RFC 7541 §6.2.2: a field without indexing and without Huffman coding, both parts shorter than 127 bytes. */
function literalField([name = "", value = ""]: readonly string[]): Buffer {
  const text = (part: string) => Buffer.concat([Buffer.of(part.length), Buffer.from(part)]);
  return Buffer.concat([Buffer.of(0), text(name), text(value)]);
}

interface RawSocket extends AsyncDisposable {
  send(text: string): void;
  /** Returns the next piece of what the server sends that is not empty. */
  receive(): Promise<string>;
  /** Resolves when the server has closed the connection. */
  readonly ended: Promise<unknown>;
}

function open(port: number): RawSocket {
  const socket: Socket = connect(port, "127.0.0.1").setEncoding("utf8");
  socket.on("error", () => {});
  const ended = once(socket, "close");
  return {
    ended,
    send: (text) => void socket.write(text),
    async receive() {
      let text = "";
      for await (const [piece] of onData(socket)) {
        text += piece;
        // The bodies here are one JSON object.
        if (text.endsWith("}\n")) break;
      }
      return text;
    },
    async [Symbol.asyncDispose]() {
      socket.destroy();
      await ended;
    },
  };
}

async function* onData(socket: Socket): AsyncGenerator<[string]> {
  while (!socket.destroyed) yield (await once(socket, "data")) as [string];
}
