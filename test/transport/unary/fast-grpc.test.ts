// The short way for unary gRPC against connect-node: the same requests, good and bad, must get the same answers.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientHttp2Session, connect, type IncomingHttpHeaders, sensitiveHeaders } from "node:http2";
import { connect as connectSocket } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { create, type DescMessage, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import {
  CreateGroupRequestSchema,
  GetGroupRequestSchema,
  GroupsService,
  ListGroupsRequestSchema,
} from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../../gen/google/rpc/status_pb.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { authorizations, requestClock, unaryRequests } from "../unary-requests.ts";

interface Answer {
  readonly status: unknown;
  readonly contentType: unknown;
  readonly grpcStatus: unknown;
  readonly message: string;
  readonly details: unknown;
  readonly body: string;
  readonly tookFastPath: boolean;
}

interface Sent {
  readonly path: string;
  readonly headers: Record<string, string>;
  /** The DATA frames of the body. */
  readonly chunks: readonly Buffer[];
}

const service = `/${GroupsService.typeName}`;

/** Sends one request and collects all frames of the response. */
async function send(session: ClientHttp2Session, { path, headers, chunks }: Sent): Promise<Answer> {
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  const received: Buffer[] = [];
  let head: Record<string, unknown> = {};
  let trailers: Record<string, unknown> = {};
  stream.on("response", (fields) => {
    head = { ...fields };
  });
  stream.on("trailers", (fields) => {
    trailers = { ...fields };
  });
  stream.on("data", (chunk: Buffer) => received.push(chunk));
  stream.on("error", () => {});
  const closed = new Promise((resolve) => stream.once("close", resolve));
  for (const chunk of chunks) {
    stream.write(chunk);
    await new Promise((resolve) => setImmediate(resolve));
  }
  stream.end();
  await closed;
  const all: Record<string, unknown> = { ...head, ...trailers };
  return {
    status: all[":status"],
    contentType: all["content-type"],
    grpcStatus: all["grpc-status"],
    message: decodeURIComponent(String(all["grpc-message"] ?? "")),
    details: all["grpc-status-details-bin"],
    body: Buffer.concat(received).toString("hex"),
    // The short way sends a failure as the only headers (gRPC's Trailers-Only), connect-node behind headers of its own.
    tookFastPath: head["grpc-status"] !== undefined,
  };
}

function frame(message: Uint8Array, flags = 0, length = message.length): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flags;
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, message]);
}

function encoded<T extends DescMessage>(schema: T, init: MessageInitShape<T>): Buffer {
  return frame(toBinary(schema, create(schema, init)));
}

describe("the short way for gRPC", () => {
  let short: TestServer;
  let complete: TestServer["server"];
  let sessions: { short: ClientHttp2Session; complete: ClientHttp2Session };
  const stack = new AsyncDisposableStack();
  const clock = requestClock();

  before(async () => {
    short = stack.use(await startTestServer({ clock: clock.read }));
    // The key that opens the secrets of the database lies in the data directory.
    const { databaseUrl, baseUrl, dataDir } = short.config;
    const settings = { databaseUrl, baseUrl, dataDir, fastPath: "off" };
    const other = stack.use(await startTestServer({ clock: clock.read, settings }));
    complete = other.server;
    sessions = { short: connect(short.url), complete: connect(complete.url) };
  });

  after(async () => {
    sessions.short.destroy();
    sessions.complete.destroy();
    await stack.disposeAsync();
  });

  async function both(sent: Sent): Promise<{ short: Answer; complete: Answer }> {
    clock.tick();
    const headers = { authorization: `Bearer ${short.ownerToken}`, ...sent.headers };
    const [a, b] = await Promise.all([
      send(sessions.short, { ...sent, headers }),
      send(sessions.complete, { ...sent, headers }),
    ]);
    return { short: a, complete: b };
  }

  /** Answers of the pipeline are equal to the byte; page tokens differ by the time in them. */
  async function assertSame(sent: Sent): Promise<Answer> {
    const answers = await both(sent);
    const { tookFastPath, ...rest } = answers.short;
    const { tookFastPath: neverFast, ...expected } = answers.complete;
    assert.deepEqual(rest, expected);
    // Strangers are refused before connect-node sees what they send.
    assert.equal(neverFast, answers.complete.grpcStatus === "16");
    return answers.short;
  }

  it("has no table of headers take in what no two responses have the same", async () => {
    const body = encoded(GetGroupRequestSchema, { uid: short.groupUid });
    const authorization = `Bearer ${short.ownerToken}`;
    const path = `${service}/GetGroup`;
    const stream = sessions.short.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      authorization,
    });
    stream.end(body);
    const [head] = (await once(stream.resume(), "response")) as [IncomingHttpHeaders];
    assert.match(String(head["x-request-id"]), /^[0-9a-f]{32}$/);
    assert.deepEqual(Reflect.get(head, sensitiveHeaders), ["x-request-id"]);
    await once(stream, "close");
  });

  it("takes plain calls, and only those", async () => {
    const body = encoded(GetGroupRequestSchema, { uid: "x" });
    const cases: [headers: Record<string, string>, takes: boolean][] = [
      [{}, true],
      [{ "content-type": "application/grpc+proto" }, true],
      [{ "grpc-encoding": "identity", "grpc-timeout": "10S" }, true],
      [{ "content-type": "application/grpc+json" }, false],
      [{ "content-type": "application/grpc;x=y" }, false],
      [{ "grpc-encoding": "gzip" }, false],
      [{ "grpc-timeout": "99999999H" }, true],
    ];
    for (const [headers, takes] of cases) {
      const { short: answer } = await both({ path: `${service}/GetGroup`, headers, chunks: [body] });
      assert.equal(answer.tookFastPath && answer.status === 200, takes, JSON.stringify(headers));
    }
  });

  it("responds thousands of generated requests as connect-node does", async () => {
    await fc.assert(
      fc.asyncProperty(
        unaryRequests,
        authorizations,
        fc.integer({ min: 1, max: 4 }),
        async ({ path, schema, init }, headers, pieces) => {
          const body = encoded(schema, init(short.groupUid));
          const size = Math.ceil(body.length / pieces);
          const chunks = Array.from({ length: pieces }, (_, i) => body.subarray(i * size, (i + 1) * size)).filter(
            (chunk) => chunk.length > 0,
          );
          const answer = await assertSame({ path, headers, chunks });
          assert.ok(answer.tookFastPath || answer.grpcStatus === "0");
        },
      ),
      { numRuns: 1000 },
    );
  });

  const group = () => encoded(GetGroupRequestSchema, { uid: short.groupUid });
  const broken: [what: string, code: string, chunks: () => Buffer[]][] = [
    ["no message", "12", () => []],
    ["a part of the prefix", "3", () => [Buffer.from([0, 0, 0])]],
    ["a message cut short", "3", () => [group().subarray(0, -1)]],
    ["two messages", "12", () => [group(), group()]],
    ["bytes behind the message", "3", () => [Buffer.concat([group(), Buffer.from([0])])]],
    ["a message flagged as compressed", "13", () => [frame(Buffer.from("x"), 1)]],
    ["a length of 4 GiB", "8", () => [frame(Buffer.from("x"), 0, 2 ** 32 - 1)]],
    ["a length beyond the limit", "8", () => [frame(Buffer.alloc(10), 0, 5 * 1024 * 1024)]],
  ];
  for (const [what, code, chunks] of broken) {
    it(`${what}: code ${code}, as from connect-node`, async () => {
      const answers = await both({ path: `${service}/GetGroup`, headers: {}, chunks: chunks() });
      assert.deepEqual([answers.short.grpcStatus, answers.complete.grpcStatus], [code, code], answers.complete.message);
      assert.ok(answers.short.tookFastPath);
    });
  }

  // gRPC over HTTP/2, "Requests": 0 and 1 are all that the flags may be; grpc-go calls others INTERNAL too.
  for (const flags of [1, 2, 3, 0x80]) {
    it(`a message with the flags ${flags}, and no compression named: INTERNAL with its reason either way`, async () => {
      const chunks = [frame(Buffer.alloc(0), flags)];
      const answers = await both({ path: `${service}/GetGroup`, headers: {}, chunks });
      assert.deepEqual([answers.short.grpcStatus, answers.complete.grpcStatus], ["13", "13"]);
      assert.equal(answers.short.message, answers.complete.message);
      assert.ok(answers.complete.details);
    });
  }

  const refusedByHead: [headers: Record<string, string>, code: string][] = [
    [{ "grpc-timeout": "0S" }, "4"],
    [{ "grpc-timeout": "soon" }, "3"],
    [{ "grpc-encoding": "deflate" }, "12"],
  ];
  for (const [headers, code] of refusedByHead) {
    it(`${JSON.stringify(headers)}: code ${code} with its reason, either way`, async () => {
      const answers = await both({ path: `${service}/GetGroup`, headers, chunks: [] });
      assert.deepEqual([answers.short.grpcStatus, answers.complete.grpcStatus], [code, code]);
      assert.ok(answers.short.details && answers.complete.details);
    });
  }

  for (const length of [{}, { "content-length": "9999999" }])
    it(`a body that connect-node rejects ends with the response, ${JSON.stringify(length)}`, async () => {
      const stream = sessions.complete.request({
        ":method": "POST",
        ":path": `${service}/GetGroup`,
        "content-type": "application/grpc",
        authorization: `Bearer ${short.ownerToken}`,
        ...length,
      });
      stream.on("error", () => {}).resume();
      const statuses: unknown[] = [];
      for (const event of ["response", "trailers"]) stream.on(event, (fields) => statuses.push(fields["grpc-status"]));
      const closed = new Promise((resolve) => stream.once("close", resolve));
      for (let i = 0; i < 20; i++) stream.write(Buffer.alloc(256 * 1024));
      await closed;
      assert.equal(stream.rstCode, 0);
      assert.ok(statuses.includes("8"));
    });

  it("gRPC over HTTP/1.0, which has no trailers to tell how a call ended: 505", async () => {
    const socket = connectSocket(Number(new URL(complete.url).port), "127.0.0.1");
    const head = `POST ${service}/GetGroup HTTP/1.0\r\nHost: a\r\nContent-Type: application/grpc\r\nContent-Length: 5\r\n\r\n`;
    socket.end(`${head}\0\0\0\0\0`);
    assert.match(await text(socket), /^HTTP\/1\.1 505 /);
  });

  const unreadable: [what: string, message: Buffer][] = [
    ["bytes that are not a message", Buffer.from([0xff, 0xff, 0xff])],
    ["a field of the wrong wire type", Buffer.from([0x08, 0x01])],
    ["text that is not UTF-8", Buffer.from([0x0a, 0x02, 0xc3, 0x28])],
  ];
  for (const [what, message] of unreadable) {
    // connect-node would call it internal; it is the caller's mistake.
    it(`${what}: INVALID_ARGUMENT either way`, async () => {
      const answers = await both({ path: `${service}/GetGroup`, headers: {}, chunks: [frame(message)] });
      assert.deepEqual([answers.short.grpcStatus, answers.complete.grpcStatus], ["3", "3"]);
    });
  }

  it("a body beyond the limit is rejected, and the connection lives", async () => {
    const headers = { authorization: `Bearer ${short.ownerToken}` };
    const path = `${service}/GetGroup`;
    const chunks = Array.from({ length: 20 }, () => Buffer.alloc(256 * 1024));
    assert.equal((await send(sessions.short, { path, headers, chunks })).grpcStatus, "8");
    assert.equal((await send(sessions.short, { path, headers, chunks: [group()] })).grpcStatus, "0");
  });

  it("strangers are rejected before what they send is decoded", async () => {
    const sent = {
      path: `${service}/GetGroup`,
      headers: { authorization: "Bearer x" },
      chunks: [frame(Buffer.from("x"))],
    };
    const answers = await both(sent);
    assert.deepEqual([answers.short.grpcStatus, answers.complete.grpcStatus], ["16", "16"]);
    const compressed = await both({ ...sent, headers: { ...sent.headers, "grpc-encoding": "gzip" } });
    assert.deepEqual([compressed.short.grpcStatus, compressed.complete.grpcStatus], ["16", "16"]);
  });

  it("a message of very many values is rejected before it is decoded", async () => {
    const chunks = [encoded(ListGroupsRequestSchema, { uidp: { ids: Array(200_001).fill("") } })];
    const answer = await send(sessions.short, {
      path: `${service}/ListGroups`,
      headers: { authorization: `Bearer ${short.ownerToken}` },
      chunks,
    });
    assert.equal(answer.grpcStatus, "3");
    assert.match(answer.message, /must not hold more than 200000 values/);
  });

  it("what is packed to a thousandth is unpacked up to the limit of a message", async () => {
    const packed = (name: string) => {
      const message = toBinary(ListGroupsRequestSchema, create(ListGroupsRequestSchema, { name }));
      return {
        path: `${service}/ListGroups`,
        headers: { "grpc-encoding": "gzip" },
        chunks: [frame(gzipSync(message), 1)],
      };
    };
    assert.equal((await both(packed("a".repeat(5_000_000)))).complete.grpcStatus, "8");
    assert.notEqual((await both(packed("a".repeat(4_000_000)))).complete.grpcStatus, "8");
  });

  it("what gets a response before its body is there is not carried out", async () => {
    const body = encoded(CreateGroupRequestSchema, { parent: short.groupUid, group: { name: "too late" } });
    for (const [session, encoding] of [
      [sessions.short, "identity"],
      [sessions.complete, "identity"],
      [sessions.short, "gzip"],
    ] as const) {
      const stream = session.request({
        ":method": "POST",
        ":path": `${service}/CreateGroup`,
        "content-type": "application/grpc",
        te: "trailers",
        "grpc-timeout": "20m",
        "grpc-encoding": encoding,
        authorization: `Bearer ${short.ownerToken}`,
      });
      stream.on("error", () => {});
      stream.write(body.subarray(0, 10));
      const statuses: unknown[] = [];
      for (const event of ["response", "trailers"]) stream.on(event, (fields) => statuses.push(fields["grpc-status"]));
      // No event tells that the time is over: connect-node answers at the end of the body only.
      await new Promise((resolve) => setTimeout(resolve, 150));
      stream.end(body.subarray(10));
      await once(stream.resume(), "close");
      assert.ok(statuses.includes("4"), `${encoding}: ${statuses}`);
    }
    const reply = await fetch(`${short.url}/iam/v2beta1/groups?name=too%20late`, {
      headers: { authorization: `Bearer ${short.ownerToken}` },
    });
    assert.deepEqual(((await reply.json()) as { groups: unknown }).groups, []);
  });

  it("an unknown method gets a response as gRPC has it, also of a service that has been asked before", async () => {
    const health = "/grpc.health.v1.Health";
    for (const path of [`${service}/GetGroup`, `${health}/Check`]) {
      await both({ path, headers: { "grpc-encoding": "gzip" }, chunks: [frame(gzipSync(""), 1)] });
    }
    for (const path of ["/no.such.Service/Method", `${service}/Nope`, `${health}/Nope`]) {
      const answers = await both({ path, headers: {}, chunks: [group()] });
      for (const { status, grpcStatus, message } of [answers.short, answers.complete]) {
        assert.deepEqual([status, grpcStatus, message], [200, "12", `Unimplemented: there is no method ${path}`]);
      }
    }
  });

  it("what no method gets to see is rejected with an ErrorInfo, too", async () => {
    const path = `${service}/ListGroups`;
    const gzip = { "grpc-encoding": "gzip" };
    const large = toBinary(ListGroupsRequestSchema, create(ListGroupsRequestSchema, { name: "a".repeat(5_000_000) }));
    const cases: [reason: string, sent: Sent][] = [
      ["UNIMPLEMENTED", { path: "/no.such.Service/Method", headers: {}, chunks: [group()] }],
      ["UNIMPLEMENTED", { path, headers: {}, chunks: [] }],
      ["INVALID_ARGUMENT", { path, headers: {}, chunks: [frame(Buffer.from("x"))] }],
      ["INVALID_ARGUMENT", { path, headers: gzip, chunks: [frame(Buffer.from("x"), 1)] }],
      ["RESOURCE_EXHAUSTED", { path, headers: gzip, chunks: [frame(gzipSync(large), 1)] }],
    ];
    for (const [reason, sent] of cases) {
      const answers = await both(sent);
      for (const { details } of [answers.short, answers.complete]) {
        const { details: told } = fromBinary(StatusSchema, Buffer.from(String(details ?? ""), "base64"));
        const [info] = told.flatMap((any) => anyUnpack(any, ErrorInfoSchema) ?? []);
        assert.deepEqual([info?.reason, info?.domain], [reason, "iam.gatehouse.internal"], sent.path);
      }
    }
  });

  it("paths that are not a method are left to the other transport", async () => {
    for (const path of [`${service}/Nope`, `${service}/GetGroup/`, "/", `${service.toLowerCase()}/GetGroup`]) {
      const answers = await both({ path, headers: {}, chunks: [group()] });
      assert.deepEqual(
        [answers.short.status, answers.short.body.length > 0],
        [answers.complete.status, answers.complete.body.length > 0],
        path,
      );
    }
  });
});
