// gRPC over HTTP/2: requests in every form, good and bad, and their responses.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientHttp2Session, connect, type IncomingHttpHeaders, sensitiveHeaders } from "node:http2";
import { connect as connectSocket } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { create, fromBinary, toBinary, toJsonString } from "@bufbuild/protobuf";
import fc from "fast-check";
import {
  CreateGroupRequestSchema,
  GetGroupRequestSchema,
  GroupSchema,
  GroupsService,
  ListGroupsRequestSchema,
} from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import {
  ListRolesRequestSchema,
  ListRolesResponseSchema,
  RolesService,
} from "../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { casesOf } from "../../harness/quick.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { authorizations, requestClock, unaryRequests } from "../unary-requests.ts";
import { type Answer, binary, frame, infoOf, type Sent, send } from "./client.ts";

const groups = `/${GroupsService.typeName}`;
const listRoles = `/${RolesService.typeName}/ListRoles`;
const gzip = { "grpc-encoding": "gzip" };
const empty = frame(Buffer.alloc(0));

describe("unary gRPC", () => {
  const stack = new AsyncDisposableStack();
  const clock = requestClock();
  let server: TestServer;
  let session: ClientHttp2Session;

  before(async () => {
    server = stack.use(await startTestServer({ clock: clock.read }));
    session = connect(server.url);
    stack.defer(() => session.destroy());
  });
  after(() => stack.disposeAsync());

  /** Calls as the owner, unless the headers say otherwise. */
  function call(sent: Sent): Promise<Answer> {
    clock.tick();
    return send(session, { ...sent, headers: { authorization: `Bearer ${server.ownerToken}`, ...sent.headers } });
  }

  const getGroup = (headers: Record<string, string>, ...chunks: Uint8Array[]) =>
    call({ path: `${groups}/GetGroup`, headers, chunks });
  const group = () => frame(binary(GetGroupRequestSchema, { uid: server.groupUid }));

  it("the request id of a response is kept out of the header tables", async () => {
    const authorization = `Bearer ${server.ownerToken}`;
    const head = {
      ":method": "POST",
      ":path": `${groups}/GetGroup`,
      "content-type": "application/grpc",
      authorization,
    };
    const stream = session.request(head);
    stream.end(group());
    const [headers] = (await once(stream.resume(), "response")) as [IncomingHttpHeaders];
    assert.match(String(headers["x-request-id"]), /^[0-9a-f]{32}$/);
    assert.deepEqual(Reflect.get(headers, sensitiveHeaders), ["x-request-id"]);
    await once(stream, "close");
  });

  const heads: [headers: Record<string, string>, contentType: string][] = [
    [{}, "application/grpc+proto"],
    [{ "content-type": "application/grpc+proto" }, "application/grpc+proto"],
    [{ "content-type": "APPLICATION/GRPC" }, "application/grpc+proto"],
    [{ "content-type": "application/grpc;x=y" }, "application/grpc+proto"],
    [{ "grpc-encoding": "identity", "grpc-timeout": "10S" }, "application/grpc+proto"],
    [{ "grpc-timeout": "99999999H" }, "application/grpc+proto"],
    [gzip, "application/grpc+proto"],
    [{ expect: "100-continue" }, "application/grpc+proto"],
  ];
  for (const [headers, contentType] of heads) {
    it(`a call with ${JSON.stringify(headers)} is served`, async () => {
      const answer = await getGroup(headers, group());
      assert.deepEqual([answer.http, answer.status, answer.headers["content-type"]], [200, "0", contentType]);
      assert.equal(fromBinary(GroupSchema, answer.body.subarray(5)).uid, server.groupUid);
    });
  }

  for (const type of ["application/grpc+json", "application/grpc+json; charset=utf-8", "application/GRPC+JSON"]) {
    it(`a call in ${type} is served, with errors in the same type`, async () => {
      const asked = frame(Buffer.from(JSON.stringify({ uid: server.groupUid })));
      const answer = await getGroup({ "content-type": type }, asked);
      assert.deepEqual([answer.status, answer.headers["content-type"]], ["0", "application/grpc+json"]);
      assert.equal(JSON.parse(answer.body.subarray(5).toString()).uid, server.groupUid);
      const failure = await getGroup({ "content-type": type }, frame(Buffer.from("{")));
      assert.deepEqual([failure.status, failure.headers["content-type"]], ["3", "application/grpc+json"]);
      assert.equal(failure.message, "Invalid argument: body: is not valid JSON");
      assert.equal(infoOf(failure)?.reason, "INVALID_ARGUMENT");
    });
  }

  for (const type of [
    "application/grpc+thrift",
    "application/grpc+json; charset=iso-8859-1",
    "application/grpcx",
    "text/plain",
  ]) {
    it(`a call in ${type} is 415, which names the types that are accepted`, async () => {
      const { http, status, headers, body } = await getGroup({ "content-type": type }, group());
      assert.deepEqual([http, status, body.length], [415, undefined, 0]);
      assert.match(
        String(headers["accept-post"]),
        /^application\/grpc, application\/grpc\+proto, .*application\/json$/,
      );
    });
  }

  it("the path of a call ends before its query", async () => {
    assert.equal((await call({ path: `${groups}/GetGroup?x=y`, headers: {}, chunks: [group()] })).status, "0");
  });

  it("generated requests get the same response in pieces, compressed with gzip and brotli, and in JSON", async () => {
    const forms = fc.constantFrom("pieces", "gzip", "br", "json");
    const count = fc.integer({ min: 2, max: 4 });
    await fc.assert(
      fc.asyncProperty(unaryRequests, authorizations, forms, count, async (request, headers, form, pieces) => {
        const { path, schema } = request;
        const message = create(schema, request.init(server.groupUid));
        const bytes = toBinary(schema, message);
        const plain = await call({ path, headers, chunks: [frame(bytes)] });
        const size = Math.ceil((bytes.length + 5) / pieces);
        const cut = Array.from({ length: pieces }, (_, i) => frame(bytes).subarray(i * size, (i + 1) * size));
        const other = {
          pieces: [headers, cut.filter(({ length }) => length > 0)],
          gzip: [{ ...headers, ...gzip }, [frame(gzipSync(bytes), 1)]],
          br: [{ ...headers, "grpc-encoding": "br" }, [frame(brotliCompressSync(bytes), 1)]],
          json: [
            { ...headers, "content-type": "application/grpc+json" },
            [frame(Buffer.from(toJsonString(schema, message)))],
          ],
        }[form] as [Record<string, string>, Buffer[]];
        const answer = await call({ path, headers: other[0], chunks: other[1] });
        assert.deepEqual([answer.status, answer.message], [plain.status, plain.message]);
        assert.equal(answer.headers["grpc-status-details-bin"], plain.headers["grpc-status-details-bin"]);
        if (form !== "json") assert.deepEqual(answer.body, plain.body);
        else if (plain.status === "0") assert.ok(JSON.parse(answer.body.subarray(5).toString()));
      }),
      { numRuns: casesOf(60, 300) },
    );
  });

  const broken: [what: string, code: string, message: string, chunks: () => Buffer[]][] = [
    ["no message", "12", "protocol error: missing input message for unary method", () => []],
    ["a part of the prefix", "3", "protocol error: incomplete envelope", () => [Buffer.from([0, 0, 0])]],
    ["a message cut short", "3", "protocol error: incomplete envelope", () => [group().subarray(0, -1)]],
    ["two messages", "12", "protocol error: received extra input message for unary method", () => [group(), group()]],
    [
      "bytes behind the message",
      "3",
      "protocol error: incomplete envelope",
      () => [Buffer.concat([group(), Buffer.from([0])])],
    ],
    [
      "a length of 4 GiB",
      "8",
      "the message is larger than 4194304 bytes",
      () => [frame(Buffer.from("x"), 0, 2 ** 32 - 1)],
    ],
    [
      "a length beyond the limit",
      "8",
      "the message is larger than 4194304 bytes",
      () => [frame(Buffer.alloc(10), 0, 5 * 1024 * 1024)],
    ],
    // It is the caller's mistake, though other servers call it internal.
    ["bytes that are not a message", "3", "cannot parse", () => [frame(Buffer.from([0xff, 0xff, 0xff]))]],
    ["a field of the wrong wire type", "3", "cannot parse", () => [frame(Buffer.from([0x08, 0x01]))]],
    ["text that is not UTF-8", "3", "cannot parse", () => [frame(Buffer.from([0x0a, 0x02, 0xc3, 0x28]))]],
  ];
  for (const [what, code, message, chunks] of broken) {
    it(`${what} in the body of a call: code ${code}, also if an encoding is named`, async () => {
      for (const headers of [{}, gzip]) {
        const answer = await getGroup(headers, ...chunks());
        assert.equal(answer.status, code);
        assert.ok(answer.message.includes(message), answer.message);
        assert.ok(infoOf(answer));
      }
    });
  }

  // gRPC over HTTP/2, "Requests": 0 and 1 are all that the flags may be; grpc-go calls others INTERNAL too.
  for (const flags of [1, 2, 3, 0x80]) {
    it(`a message with the flags ${flags}, and no compression named: INTERNAL with its reason`, async () => {
      const answer = await getGroup({}, frame(Buffer.alloc(0), flags));
      assert.deepEqual([answer.status, infoOf(answer)?.reason], ["13", "INTERNAL"]);
      assert.match(
        answer.message,
        flags === 1 ? /no encoding is named$/ : new RegExp(`flags of a message are ${flags}$`),
      );
    });
  }

  const wrongHeads: [headers: Record<string, string>, code: string, message: string][] = [
    [{ "grpc-timeout": "0S" }, "4", "the deadline has passed"],
    [{ "grpc-timeout": "soon" }, "3", "protocol error: grpc-timeout is soon"],
    [{ "grpc-encoding": "deflate" }, "12", 'Unimplemented: unknown compression "deflate": supported are gzip, br'],
  ];
  for (const [headers, code, message] of wrongHeads) {
    it(`a call with ${JSON.stringify(headers)} is rejected before its body is read, and after its caller is known`, async () => {
      const answer = await getGroup(headers);
      assert.deepEqual([answer.status, answer.message], [code, message]);
      assert.ok(infoOf(answer));
      assert.equal((await getGroup({ ...headers, authorization: "Bearer x" })).status, "16");
    });
  }

  it("an unknown encoding is rejected with those that are supported", async () => {
    assert.equal((await getGroup({ "grpc-encoding": "deflate" })).headers["grpc-accept-encoding"], "gzip,br");
  });

  const encodings: [asked: string, accepted: string, used: string | undefined][] = [
    ["gzip", "gzip", "gzip"],
    ["gzip", "br, gzip", "gzip"],
    ["br", "br", "br"],
    ["gzip", "identity", undefined],
    ["gzip", "gzip;q=0", undefined],
    ["identity", "gzip", undefined],
  ];
  for (const [asked, accepted, used] of encodings) {
    it(`a request in ${asked} of a client that accepts ${accepted}: the response is in ${used ?? "identity"}`, async () => {
      const bytes = binary(ListRolesRequestSchema, { pageSize: 100 });
      const compress = { gzip: gzipSync, br: brotliCompressSync }[asked];
      const { headers, body } = await call({
        path: listRoles,
        headers: { "grpc-encoding": asked, "grpc-accept-encoding": accepted },
        chunks: [compress ? frame(compress(bytes), 1) : frame(bytes)],
      });
      assert.deepEqual([headers["grpc-encoding"], body[0]], [used, used ? 1 : 0]);
      const decompress = { gzip: gunzipSync, br: brotliDecompressSync }[used ?? ""];
      const message = decompress ? decompress(body.subarray(5)) : body.subarray(5);
      assert.ok(fromBinary(ListRolesResponseSchema, message).roles.length > 10);
    });
  }

  it("a response of less than 1024 bytes is sent as it is", async () => {
    const { body } = await getGroup({ ...gzip, "grpc-accept-encoding": "gzip" }, group());
    assert.deepEqual([body[0], fromBinary(GroupSchema, body.subarray(5)).uid], [0, server.groupUid]);
  });

  it("the message of an error is escaped alike, whether its request was compressed or not", async () => {
    const bytes = binary(GetGroupRequestSchema, { uid: "50 % é" });
    for (const [headers, chunk] of [
      [{}, frame(bytes)],
      [gzip, frame(gzipSync(bytes), 1)],
    ] as const) {
      const { headers: fields } = await getGroup(headers, chunk);
      assert.match(String(fields["grpc-message"]), /^Invalid argument: uid: must match "\^\[0-9a-f\]/);
    }
  });

  for (const length of [{}, { "content-length": "9999999" }])
    it(`a body that is too large gets RESOURCE_EXHAUSTED, and the stream ends without a reset: headers ${JSON.stringify(length)}`, async () => {
      for (const encoding of ["identity", "gzip"]) {
        const stream = session.request({
          ":method": "POST",
          ":path": `${groups}/GetGroup`,
          "content-type": "application/grpc",
          "grpc-encoding": encoding,
          authorization: `Bearer ${server.ownerToken}`,
          ...length,
        });
        stream.on("error", () => {}).resume();
        const statuses: unknown[] = [];
        for (const event of ["response", "trailers"])
          stream.on(event, (fields) => statuses.push(fields["grpc-status"]));
        const closed = new Promise((resolve) => stream.once("close", resolve));
        for (let i = 0; i < 20; i++) stream.write(Buffer.alloc(256 * 1024));
        await closed;
        assert.equal(stream.rstCode, 0);
        assert.ok(statuses.includes("8"));
      }
    });

  for (const version of ["1.0", "1.1"])
    it(`gRPC over HTTP/${version}, whose clients read no trailers: 505`, async () => {
      const socket = connectSocket(Number(new URL(server.url).port), "127.0.0.1");
      const head = `POST ${groups}/GetGroup HTTP/${version}\r\nHost: a\r\nContent-Type: application/grpc\r\nContent-Length: 5\r\n\r\n`;
      socket.end(`${head}\0\0\0\0\0`);
      assert.match(await text(socket), /^HTTP\/1\.1 505 /);
    });

  it("a body beyond the limit is rejected, and the connection lives", async () => {
    const chunks = Array.from({ length: 20 }, () => Buffer.alloc(256 * 1024));
    assert.equal((await getGroup({}, ...chunks)).status, "8");
    assert.equal((await getGroup({}, group())).status, "0");
  });

  it("a caller without a valid token is rejected before what it sends is decoded", async () => {
    for (const encoding of [{}, gzip]) {
      const answer = await getGroup({ authorization: "Bearer x", ...encoding }, frame(Buffer.from("x")));
      assert.equal(answer.status, "16");
    }
  });

  it("a caller without a token is rejected before a compressed body is read", async () => {
    const headers = { ":method": "POST", ":path": `${groups}/GetGroup`, "content-type": "application/grpc", ...gzip };
    const stream = session.request({ ...headers, "content-length": "4000000" });
    stream.on("error", () => {});
    // Nothing of the body is sent: a server that waits for it sends no response.
    const [fields] = (await once(stream.resume(), "response")) as [IncomingHttpHeaders];
    assert.equal(fields["grpc-status"], "16");
    stream.close();
  });

  it("50 MB of spaces that are compressed to a thousandth are rejected within 20 MB of memory", async () => {
    const packed = frame(gzipSync(Buffer.alloc(50_000_000, " ")), 1);
    const send50 = () => call({ path: `${groups}/ListGroups`, headers: gzip, chunks: [packed] });
    await send50();
    const { rss } = process.memoryUsage;
    const start = rss();
    let most = start;
    const watch = setInterval(() => {
      most = Math.max(most, rss());
    }, 1);
    const answer = await send50();
    clearInterval(watch);
    assert.equal(answer.status, "8");
    assert.match(answer.message, /larger than 4194304 bytes/);
    assert.ok(most - start < 20_000_000, `${most - start} bytes`);
  });

  it("a message of very many values is rejected before it is decoded", async () => {
    const bytes = binary(ListGroupsRequestSchema, { uidp: { ids: Array(200_001).fill("") } });
    for (const [headers, chunk] of [
      [{}, frame(bytes)],
      [gzip, frame(gzipSync(bytes), 1)],
    ] as const) {
      const answer = await call({ path: `${groups}/ListGroups`, headers, chunks: [chunk] });
      assert.equal(answer.status, "3");
      assert.match(answer.message, /must not hold more than 200000 values/);
    }
  });

  it("what is compressed to a thousandth is decompressed up to the limit of a message", async () => {
    const packed = (length: number) => {
      const chunk = frame(gzipSync(binary(ListGroupsRequestSchema, { name: "a".repeat(length) })), 1);
      return call({ path: `${groups}/ListGroups`, headers: gzip, chunks: [chunk] });
    };
    assert.equal((await packed(5_000_000)).status, "8");
    assert.equal((await packed(4_000_000)).status, "3");
  });

  it("a call that gets its response before its body has arrived is not carried out", async () => {
    const body = frame(binary(CreateGroupRequestSchema, { parent: server.groupUid, group: { name: "too late" } }));
    for (const encoding of ["identity", "gzip"]) {
      const stream = session.request({
        ":method": "POST",
        ":path": `${groups}/CreateGroup`,
        "content-type": "application/grpc",
        te: "trailers",
        "grpc-timeout": "20m",
        "grpc-encoding": encoding,
        authorization: `Bearer ${server.ownerToken}`,
      });
      stream.on("error", () => {});
      stream.write(body.subarray(0, 10));
      const [fields] = (await once(stream.resume(), "response")) as [IncomingHttpHeaders];
      assert.equal(fields["grpc-status"], "4", encoding);
      stream.end(body.subarray(10));
      await once(stream, "close");
    }
    const reply = await fetch(`${server.url}/iam/v2beta1/groups?name=too%20late`, {
      headers: { authorization: `Bearer ${server.ownerToken}` },
    });
    assert.deepEqual(((await reply.json()) as { groups: unknown }).groups, []);
  });

  it("an unknown method gets a response of gRPC, also of a service that has been called before", async () => {
    const health = "/grpc.health.v1.Health";
    assert.equal(
      (await call({ path: `${health}/Check`, headers: gzip, chunks: [frame(gzipSync(""), 1)] })).status,
      "0",
    );
    for (const path of ["/no.such.Service/Method", `${groups}/Nope`, `${groups}/GetGroup/`, `${health}/Nope`]) {
      const answer = await call({ path, headers: {}, chunks: [empty] });
      const { http, status, message } = answer;
      assert.deepEqual([http, status, message], [200, "12", `Unimplemented: there is no method ${path}`]);
      assert.deepEqual([infoOf(answer)?.reason, infoOf(answer)?.domain], ["UNIMPLEMENTED", "iam.gatehouse.internal"]);
    }
  });

  it("the errors of a transport have an ErrorInfo of the domain of the service", async () => {
    const path = `${groups}/ListGroups`;
    const large = binary(ListGroupsRequestSchema, { name: "a".repeat(5_000_000) });
    const cases: [reason: string, sent: Omit<Sent, "path">][] = [
      ["UNIMPLEMENTED", { headers: {}, chunks: [] }],
      ["INVALID_ARGUMENT", { headers: {}, chunks: [frame(Buffer.from("x"))] }],
      ["INVALID_ARGUMENT", { headers: gzip, chunks: [frame(Buffer.from("x"), 1)] }],
      ["RESOURCE_EXHAUSTED", { headers: gzip, chunks: [frame(gzipSync(large), 1)] }],
    ];
    for (const [reason, sent] of cases) {
      const info = infoOf(await call({ path, ...sent }));
      assert.deepEqual([info?.reason, info?.domain], [reason, "iam.gatehouse.internal"]);
    }
  });
});
