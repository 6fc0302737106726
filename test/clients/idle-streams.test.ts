// Streams without an end share a connection with unary calls, as in load balancers and proxies that watch the health of a server.
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { Client, type ClientDuplexStream, type ClientReadableStream, credentials } from "@grpc/grpc-js";
import { Health, HealthCheckRequestSchema } from "../../gen/health/v1/health_pb.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";

/** More than the calls that run at a time on one connection. */
const streamCount = 300;
const bytes = (value: Buffer) => value;
const wholeServer = Buffer.from(toBinary(HealthCheckRequestSchema, create(HealthCheckRequestSchema)));

type Stream = ClientReadableStream<Buffer> | ClientDuplexStream<Buffer, Buffer>;

let server: TestServer;

const kinds: [name: string, open: (client: Client) => Stream, isOpen: (stream: Stream) => Promise<unknown>][] = [
  [
    "health watches that have their first response",
    (client) => client.makeServerStreamRequest(`/${Health.typeName}/Watch`, bytes, bytes, wholeServer),
    (stream) => once(stream, "data"),
  ],
  [
    "reflection streams without a request",
    (client) => client.makeBidiStreamRequest("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", bytes, bytes),
    async () => {},
  ],
];

describe("idle streams", () => {
  before(async () => {
    server = await startTestServer();
  });
  after(() => server[Symbol.asyncDispose]());

  for (const [name, open, isOpen] of kinds) {
    it(`a unary call has its response on a connection with 300 ${name}`, { timeout: 60_000 }, async (t) => {
      const client = new Client(new URL(server.url).host, credentials.createInsecure());
      t.after(() => client.close());
      const streams = Array.from({ length: streamCount }, () => open(client));
      for (const stream of streams) stream.on("error", () => {});
      t.after(() => streams.forEach((stream) => void stream.cancel()));
      await Promise.all(streams.map(isOpen));
      const reply = await new Promise<Buffer>((resolve, reject) => {
        client.makeUnaryRequest(`/${Health.typeName}/Check`, bytes, bytes, wholeServer, (error, value) => {
          if (error) reject(error);
          else resolve(value!);
        });
      });
      assert.deepEqual([...reply], [8, 1], "SERVING");
    });
  }
});
