// Messages of about the largest size, on each transport: those within the limit are served, others get RESOURCE_EXHAUSTED in the words of
// the protocol, with trailers where it has any. The limit is for the message, not for its prefix or its compressed form.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type IncomingMessage, request as requestHttp1 } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { limits } from "../../src/server/limits.ts";
import { maxOperationBytes } from "../../src/transport/http/message-size.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";

interface Sent {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

const listGroups = "/chainguard.platform.iam.v2beta1.GroupsService/ListGroups";
const good = "ok";
const tooLarge = "resource exhausted";
const outcomes: readonly [beyond: number, outcome: string][] = [
  [-1, good],
  [0, good],
  [1, tooLarge],
  [5, tooLarge],
  [10_000, tooLarge],
];

const transports: readonly [type: string, http: "HTTP/1.1" | "HTTP/2"][] = [
  ["application/grpc", "HTTP/2"],
  ["application/grpc+json", "HTTP/2"],
  ["application/grpc-web+proto", "HTTP/1.1"],
  ["application/grpc-web+proto", "HTTP/2"],
  ["application/grpc-web+json", "HTTP/1.1"],
  ["application/proto", "HTTP/1.1"],
  ["application/proto", "HTTP/2"],
  ["application/json", "HTTP/1.1"],
  ["application/json", "HTTP/2"],
];

/** Stored: larger than the message; packed: much smaller. */
const encodings: Readonly<Record<string, readonly [name: string, encode: (message: Buffer) => Buffer]>> = {
  "as it is": ["identity", (message) => message],
  "gzip, stored": ["gzip", (message) => gzipSync(message, { level: 0 })],
  "gzip, packed": ["gzip", (message) => gzipSync(message, { level: 1 })],
  brotli: ["br", (message) => brotliCompressSync(message, { params: { [constants.BROTLI_PARAM_QUALITY]: 0 } })],
};

describe("messages of about the largest size", () => {
  let server: TestServer;
  let session: ClientHttp2Session;
  before(async () => {
    server = await startTestServer();
    session = connect(server.url);
  });
  after(async () => {
    session.destroy();
    await server[Symbol.asyncDispose]();
  });

  for (const [type, http] of transports)
    for (const encoding of Object.keys(encodings))
      it(`${type} over ${http}, ${encoding}`, async () => {
        const all = encoding === "as it is" || encoding === "gzip, stored";
        for (const [beyond, outcome] of all ? outcomes : outcomes.slice(1, 3)) {
          const { path, headers, body } = sentOf(type, listGroups, ...payloadOf(type, encoding, beyond));
          const authorization = `Bearer ${server.ownerToken}`;
          const sent = { path, headers: { ...headers, authorization }, body };
          assert.equal(await send(http, sent), outcome, `limit ${beyond < 0 ? "" : "+"}${beyond}`);
        }
      });

  for (const [type, http] of [...transports, ["application/connect+proto", "HTTP/1.1"] as const])
    it(`a question to health in ${type} over ${http}`, async () => {
      const isStream = type.startsWith("application/connect");
      const path = `/grpc.health.v1.Health/${isStream ? "Watch" : "Check"}`;
      for (const beyond of [1, 5, 10_000]) {
        const sent = sentOf(type, path, messageOf(type, maxOperationBytes + beyond));
        assert.equal(await send(http, sent), tooLarge, `limit +${beyond}`);
      }
    });

  function send(http: "HTTP/1.1" | "HTTP/2", sent: Sent): Promise<string> {
    return http === "HTTP/2" ? sendHttp2(session, sent) : sendHttp1(server.url, sent);
  }
});

function isEnveloped(type: string): boolean {
  return /grpc|connect/.test(type);
}

function sentOf(type: string, path: string, payload: Buffer, encoding = "identity"): Sent {
  const named = type.includes("grpc") ? "grpc-encoding" : "content-encoding";
  const headers = { "content-type": type, te: "trailers", ...(encoding !== "identity" && { [named]: encoding }) };
  if (!isEnveloped(type)) return { path, headers, body: payload };
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(encoding === "identity" ? 0 : 1, 0);
  prefix.writeUInt32BE(payload.length, 1);
  return { path, headers, body: Buffer.concat([prefix, payload]) };
}

const payloads = new Map<string, Buffer>();

/** Returns a message of so many bytes beyond the limit, encoded, and the name of the encoding; made once for all transports. */
function payloadOf(type: string, encoding: string, beyond: number): [payload: Buffer, name: string] {
  const [name, encode] = encodings[encoding]!;
  const key = `${type.endsWith("json")} ${encoding} ${beyond}`;
  const payload = payloads.get(key) ?? encode(messageOf(type, limits.bodyBytes + beyond));
  payloads.set(key, payload);
  return [payload, name];
}

const pattern = randomBytes(500).toString("hex");

/** Returns a message of so many bytes, in a field that the method does not know. */
function messageOf(type: string, size: number): Buffer {
  const filling = pattern.repeat(Math.ceil(size / pattern.length));
  if (type.endsWith("json")) return Buffer.from(`{"x":"${filling.slice(0, size - 8)}"}`);
  // A key of two bytes, and a length of four, padded.
  const message = Buffer.from(filling.slice(0, size));
  const length = size - 6;
  const lengthBytes = [0, 7, 14, 21].map((shift, i) => ((length >> shift) & 127) | (i < 3 ? 128 : 0));
  message.set([0xc2, 0x3e, ...lengthBytes]);
  return message;
}

async function sendHttp2(session: ClientHttp2Session, { path, headers, body }: Sent): Promise<string> {
  const stream = session.request({ ":method": "POST", ":path": path, ...headers });
  let fields: Record<string, unknown> = {};
  const note = (seen: Record<string, unknown>) => {
    fields = { ...fields, ...seen };
  };
  stream.on("response", note).on("trailers", note).end(body);
  const received = await text(stream);
  return outcomeOf(received, fields);
}

async function sendHttp1(url: string, { path, headers, body }: Sent): Promise<string> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = requestHttp1(url + path, { method: "POST", headers }, resolve);
    sent.on("error", reject).end(body);
  });
  return outcomeOf(await text(response), response.headers);
}

/** Returns a response's headers, trailers and body in one text, for any protocol. */
function outcomeOf(body: string, fields: Record<string, unknown>): string {
  // The limit that is named is that of the message, on every transport.
  const [, named] = /larger(?: |%20)than(?: |%20)(\d+)/.exec(`${fields["grpc-message"]} ${body}`) ?? [];
  if (named !== undefined && ![limits.bodyBytes, maxOperationBytes].includes(Number(named)))
    return `a limit of ${named} bytes`;
  const status = fields["grpc-status"] ?? /grpc-status: ?(\d+)/.exec(body)?.[1];
  if (status !== undefined) return status === "0" ? good : status === "8" ? tooLarge : `grpc-status ${status}`;
  const code = /"code":"(\w+)"/.exec(body)?.[1];
  return code === undefined ? good : code.replace("_", " ");
}
