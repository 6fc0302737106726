// Clients that cancel calls on a connection that other callers share (RFC 9113 §6.4, §6.8; CVE-2023-44487).
import assert from "node:assert/strict";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { after, before, describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { codeOf, errorCode, type FrameClient, flag, frameClient, frameType, request, reset } from "./frames.ts";
import { echo, gate, listen } from "./harness.ts";

const path = "/chainguard.platform.iam.v2beta1.GroupsService/ListGroups";
const emptyMessage = Buffer.alloc(5);

describe("calls that are cancelled on a shared connection", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server[Symbol.asyncDispose]());

  it("cancelled calls harm no other call of grpc-js", async () => {
    const client = new Client(new URL(server.url).host, credentials.createInsecure());
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${server.ownerToken}`);
    const start = (done: (error: ServiceError | null) => void) =>
      client.makeUnaryRequest(
        path,
        (bytes: Buffer) => bytes,
        (bytes) => bytes,
        Buffer.alloc(0),
        metadata,
        done,
      );
    const patient = () => new Promise<number>((resolve) => start((error) => resolve(error?.code ?? status.OK)));
    await patient();
    const outcomes: Promise<number>[] = [];
    for (let i = 0; i < 200; i++) {
      outcomes.push(patient());
      for (const call of Array.from({ length: 5 }, () => start(() => {}))) setImmediate(() => call.cancel());
    }
    assert.deepEqual(new Set(await Promise.all(outcomes)), new Set([status.OK]));
    client.close();
  });

  it("cancelled calls harm no other call of an HTTP/2 client, burst after burst", async () => {
    const session = connect(server.url);
    let goaways = 0;
    session.on("goaway", () => goaways++);
    for (let burst = 0; burst < 3; burst++) {
      const patient = Array.from({ length: 50 }, () => grpcStatus(call(session)));
      const impatient = Array.from({ length: 1000 }, () => call(session));
      patient.push(...Array.from({ length: 150 }, () => grpcStatus(call(session))));
      for (const stream of impatient) stream.close(constants.NGHTTP2_CANCEL);
      assert.deepEqual(new Set(await Promise.all(patient)), new Set(["0"]));
    }
    assert.equal(goaways, 0);
    session.destroy();
  });

  function call(session: ClientHttp2Session): ClientHttp2Stream {
    const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };
    const stream = session.request({ ...headers, authorization: `Bearer ${server.ownerToken}` });
    stream.on("error", () => {});
    stream.end(emptyMessage);
    return stream;
  }
});

function grpcStatus(stream: ClientHttp2Stream): Promise<unknown> {
  return new Promise((resolve) => {
    stream.on("trailers", (fields) => resolve(fields["grpc-status"]));
    stream.on("close", () => resolve(`closed with ${stream.rstCode}`));
    stream.resume();
  });
}

describe("streams that are opened and reset by the thousand", () => {
  it("leave the connection usable within the limit, in pieces of any size", async (t) => {
    const client = raw(t, await listen(t));
    for (let round = 0; round < 3; round++) client.send(...resets(round * 1000, 1000));
    client.send(request(6001, true));
    const reply = await client.next((frame) => frame.stream === 6001);
    assert.equal(reply.type, frameType.headers);
    assert.ok(!client.frames.some(({ type }) => type === frameType.goaway));
  });

  it("cost no work where they are reset before their turn", async (t) => {
    let begun = 0;
    const listener = await listen(t, {
      handler: (received, response) => {
        begun++;
        return echo(received, response);
      },
    });
    const client = raw(t, listener);
    client.send(...resets(0, 1000), request(2001, true));
    await client.next((frame) => frame.stream === 2001);
    assert.equal(begun, 1);
  });

  it("are paid for by calls that get responses", async (t) => {
    const client = raw(t, await listen(t, { limits: { streamResetBurst: 2, streamResetRate: 0 } }));
    for (let id = 1; id < 80; id += 4) {
      client.send(request(id, true), reset(id), request(id + 2, true));
      await client.next((frame) => frame.stream === id + 2 && (frame.flags & flag.endStream) !== 0);
    }
    assert.ok(!client.frames.some(({ type }) => type === frameType.goaway));
  });

  it("beyond the limit, the connection ends after its running calls", async (t) => {
    const answer = gate();
    const listener = await listen(t, {
      limits: { streamResetBurst: 50, streamResetRate: 0 },
      handler: async (received, response) => {
        if (received.url === "/slow") await answer.promise;
        return echo(received, response);
      },
    });
    const client = raw(t, listener);
    client.send(request(1, true, "/slow"), ...resets(1, 60));
    const goaway = await client.next(({ type }) => type === frameType.goaway);
    assert.equal(codeOf(goaway), errorCode.none);
    const last = goaway.payload.readUInt32BE(0);
    assert.ok(last >= 1 && last <= 121, `${last}`);
    // RFC 9113 §6.8: not served, so the client may send it elsewhere.
    client.send(request(last + 2, true));
    await turn();
    answer.resolve();
    await client.next((frame) => frame.stream === 1 && (frame.flags & flag.endStream) !== 0);
    await client.closed;
    assert.ok(!client.frames.some(({ stream }) => stream === last + 2));
    assert.equal(listener.limitCounts["stream resets"], 1);
  });

  it("give running calls a bounded time", async (t) => {
    const limits = { streamResetBurst: 5, streamResetRate: 0, resetGraceMs: 50 };
    const client = raw(t, await listen(t, { limits, handler: () => {} }));
    client.send(request(1, true), ...resets(1, 10));
    await client.closed;
  });

  it("node's own client keeps its running calls, and later ones are rejected", async (t) => {
    const answer = gate();
    const listener = await listen(t, {
      limits: { streamResetBurst: 5, streamResetRate: 0 },
      handler: async (received, response) => {
        if (received.url === "/slow") await answer.promise;
        return echo(received, response);
      },
    });
    const session = connect(listener.address.url);
    t.after(() => session.destroy());
    const slow = session.request({ ":path": "/slow" });
    const reply = new Promise((resolve) => slow.on("response", (fields) => resolve(fields[":status"])));
    for (let i = 0; i < 20; i++) session.request({ ":path": "/" }).close(constants.NGHTTP2_CANCEL);
    await new Promise((resolve) => session.on("goaway", resolve));
    answer.resolve();
    assert.equal(await reply, 200);
  });
});

/** So many streams, each reset in the packet that opens it, behind so many others. */
function resets(others: number, count: number): Buffer[] {
  return Array.from({ length: count }, (_, i) => 2 * (others + i) + 1).flatMap((id) => [request(id, true), reset(id)]);
}

function raw(t: { after(fn: () => void): void }, listener: { address: { port: number } }): FrameClient {
  const client = frameClient(listener.address.port);
  t.after(() => client.socket.destroy());
  return client;
}
