// The short way for Connect and gRPC-web against connect-node, over both versions of HTTP.
import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import { after, before, describe, it } from "node:test";
import { create, type DescMessage, type MessageInitShape, toBinary, toJsonString } from "@bufbuild/protobuf";
import fc from "fast-check";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { ListRolesRequestSchema, RolesService } from "../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { authorizations, requestClock, unaryRequests } from "../unary-requests.ts";

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

interface Sent {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Sends a POST to one of the two servers. */
type Send = (sent: Sent) => Promise<Answer>;

type Encode = (schema: DescMessage, init: MessageInitShape<DescMessage>) => Uint8Array;

const getGroup = `/${GroupsService.typeName}/GetGroup`;
const listRoles = `/${RolesService.typeName}/ListRoles`;

const binary: Encode = (schema, init) => toBinary(schema, create(schema, init));

function frame(message: Uint8Array, flags = 0, length = message.length): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flags;
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, message]);
}

const protocols: readonly [contentType: string, encode: Encode][] = [
  ["application/proto", binary],
  ["application/json", (schema, init) => Buffer.from(toJsonString(schema, create(schema, init)))],
  ["application/grpc-web", (schema, init) => frame(binary(schema, init))],
  ["application/grpc-web+proto", (schema, init) => frame(binary(schema, init))],
];

function overHttp1(url: string): Send {
  return async ({ path, headers, body }) => {
    const request = httpRequest(`${url}${path}`, { method: "POST", headers, agent: false });
    // A server that refuses a body may close the connection while the rest of it is on its way.
    request.on("error", () => {});
    request.end(body);
    const [response] = await once(request, "response");
    const chunks = await response.toArray();
    return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
  };
}

function overHttp2(session: ClientHttp2Session): Send {
  return async ({ path, headers, body }) => {
    const stream = session.request({ ":method": "POST", ":path": path, ...headers });
    stream.end(body);
    const [head] = await once(stream, "response");
    const chunks = await stream.toArray();
    return { status: Number(head[":status"]), headers: { ...head }, body: Buffer.concat(chunks) };
  };
}

/** Returns the meaning of a response by either implementation: errors are parsed, since their fields may come in any order. */
function meaning({ status, headers, body }: Answer) {
  const contentType = String(headers["content-type"]);
  if (contentType.startsWith("application/grpc-web")) return { status, contentType, ...readGrpcWeb(body) };
  return { status, contentType, body: contentType === "application/json" ? JSON.parse(body.toString()) : body };
}

function readGrpcWeb(body: Buffer) {
  const messages: string[] = [];
  let trailers: Record<string, string> = {};
  for (let at = 0; at < body.length; ) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    const bytes = body.subarray(at + 5, end);
    if (body[at] === 0x80) trailers = readTrailers(bytes.toString());
    else messages.push(bytes.toString("hex"));
    at = end;
  }
  return { messages, trailers };
}

function readTrailers(text: string): Record<string, string> {
  const lines = text.split("\r\n").filter((line) => line !== "");
  const fields = lines.map((line): [string, string] => [
    line.slice(0, line.indexOf(":")),
    line.slice(line.indexOf(": ") + 2),
  ]);
  // gRPC over HTTP/2, "Responses": what need not be escaped may be.
  return Object.fromEntries(
    fields.map(([name, value]) => [name, name === "grpc-message" ? decodeURIComponent(value) : value]),
  );
}

describe("the short way for Connect and gRPC-web", () => {
  const stack = new AsyncDisposableStack();
  const clock = requestClock();
  let server: TestServer;
  let sends: Readonly<Record<string, { short: Send; complete: Send }>>;

  before(async () => {
    server = stack.use(await startTestServer({ clock: clock.read }));
    // The key that opens the secrets of the database lies in the data directory.
    const { databaseUrl, baseUrl, dataDir } = server.config;
    const settings = { databaseUrl, baseUrl, dataDir, fastPath: "off" };
    const other = stack.use(await startTestServer({ clock: clock.read, settings }));
    const sessions = [server.url, other.url].map((url) => connect(url));
    for (const session of sessions) stack.defer(() => session.destroy());
    sends = {
      "HTTP/1.1": { short: overHttp1(server.url), complete: overHttp1(other.url) },
      "HTTP/2": { short: overHttp2(sessions[0]!), complete: overHttp2(sessions[1]!) },
    };
  });

  after(() => stack.disposeAsync());

  async function both(http: string, sent: Sent): Promise<{ short: Answer; complete: Answer }> {
    clock.tick();
    const headers = { authorization: `Bearer ${server.ownerToken}`, ...sent.headers };
    const { short, complete } = sends[http]!;
    const [a, b] = await Promise.all([short({ ...sent, headers }), complete({ ...sent, headers })]);
    return { short: a, complete: b };
  }

  for (const http of ["HTTP/1.1", "HTTP/2"]) {
    for (const [contentType, encode] of protocols) {
      it(`${contentType} over ${http}: responds generated requests as connect-node does`, async () => {
        await fc.assert(
          fc.asyncProperty(unaryRequests, authorizations, async ({ path, schema, init }, headers) => {
            const body = encode(schema, init(server.groupUid));
            const answers = await both(http, { path, headers: { "content-type": contentType, ...headers }, body });
            assert.deepEqual(meaning(answers.short), meaning(answers.complete));
            assert.ok(answers.short.headers["x-request-id"]);
          }),
          { numRuns: 60 },
        );
      });
    }

    it(`${http}: JSON that is not UTF-8 is rejected rather than changed`, async () => {
      const headers = { "content-type": "application/json" };
      const body = Buffer.concat([Buffer.from('{"uid":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);
      const { short } = await both(http, { path: getGroup, headers, body });
      assert.deepEqual([short.status, JSON.parse(short.body.toString()).code], [400, "invalid_argument"]);
    });

    it(`${http}: an unauthenticated caller learns the scheme`, async () => {
      const headers = { "content-type": "application/json", authorization: "Bearer x" };
      for (const answer of Object.values(await both(http, { path: getGroup, headers, body: encodeJson() })))
        assert.deepEqual([answer.status, answer.headers["www-authenticate"]], [401, 'Bearer error="invalid_token"']);
    });

    it(`${http}: takes plain calls of Connect, and only those`, async () => {
      const body = encodeJson();
      // connect-node compresses a long response for clients that accept gzip; the fast path leaves that to a proxy.
      const plain = { "content-type": "application/json", "accept-encoding": "gzip" };
      const cases: [headers: Record<string, string>, takes: boolean][] = [
        [{}, true],
        [{ "connect-protocol-version": "1", "connect-timeout-ms": "10000" }, true],
        [{ "content-encoding": "identity" }, true],
        [{ "content-type": "application/json; charset=utf-8" }, false],
        [{ "connect-timeout-ms": "soon" }, false],
        [{ "content-encoding": "br" }, false],
      ];
      for (const [headers, takes] of cases) {
        const { short, complete } = await both(http, { path: listRoles, headers: { ...plain, ...headers }, body });
        assert.equal(short.status, complete.status, JSON.stringify(headers));
        assert.equal(
          short.status === 200 && short.headers["content-encoding"] === undefined,
          takes,
          JSON.stringify(headers),
        );
      }
    });

    const broken: [what: string, contentType: string, body: Uint8Array][] = [
      ["an empty body", "application/json", Buffer.alloc(0)],
      ["JSON that ends early", "application/json", Buffer.from('{"uid": ')],
      ["JSON that is not an object", "application/json", Buffer.from("[]")],
      ["a field of another type", "application/json", Buffer.from('{"uid": 1}')],
      ["a field that is not known", "application/json", Buffer.from('{"nope": 1}')],
      ["text that is not UTF-8", "application/json", Buffer.from([0x22, 0xff, 0x22])],
      ["no message", "application/grpc-web", Buffer.alloc(0)],
      ["two messages", "application/grpc-web", Buffer.concat([frame(Buffer.alloc(0)), frame(Buffer.alloc(0))])],
      ["a part of the prefix", "application/grpc-web", Buffer.from([0, 0])],
      ["a message cut short", "application/grpc-web", frame(Buffer.from("x"), 0, 2)],
    ];
    for (const [what, contentType, body] of broken) {
      it(`${http}: ${what} in ${contentType} gets the code that connect-node gives`, async () => {
        const answers = await both(http, { path: getGroup, headers: { "content-type": contentType }, body });
        const code = (answer: Answer) => {
          const told = meaning(answer);
          return "trailers" in told ? told.trailers["grpc-status"] : [told.status, told.body.code];
        };
        assert.deepEqual(code(answers.short), code(answers.complete));
      });
    }
  }

  it("bytes that are not a message: INVALID_ARGUMENT either way", async () => {
    const sent = { path: getGroup, headers: { "content-type": "application/proto" }, body: Buffer.from([0xff, 0xff]) };
    const { short, complete } = await both("HTTP/1.1", sent);
    assert.equal(short.status, 400);
    assert.deepEqual(meaning(short), meaning(complete));
  });

  it("a body beyond the limit is rejected", async () => {
    const body = Buffer.alloc(5 * 1024 * 1024, " ");
    const { short } = await both("HTTP/1.1", { path: getGroup, headers: { "content-type": "application/json" }, body });
    assert.deepEqual([short.status, JSON.parse(short.body.toString()).code], [429, "resource_exhausted"]);
  });

  it("a deadline may be further away than a timer can wait, either way", async () => {
    const far: [contentType: string, headers: Record<string, string>, body: Uint8Array][] = [
      ["application/json", { "connect-timeout-ms": "9999999999" }, encodeJson()],
      ["application/grpc-web", { "grpc-timeout": "87600H" }, frame(Buffer.alloc(0))],
    ];
    for (const [contentType, headers, body] of far) {
      for (const http of ["HTTP/1.1", "HTTP/2"]) {
        const answers = await both(http, {
          path: listRoles,
          headers: { "content-type": contentType, ...headers },
          body,
        });
        assert.deepEqual(meaning(answers.short), meaning(answers.complete));
        assert.match(answers.short.body.toString(), /viewer/);
      }
    }
  });

  it("a deadline that has passed is told of once", async () => {
    const headers = { "content-type": "application/json", "connect-timeout-ms": "1", "content-length": "2" };
    const request = httpRequest(`${server.url}${getGroup}`, { method: "POST", headers, agent: false });
    request.write("{");
    const [response] = await once(request, "response");
    const chunks = await response.toArray();
    request.destroy();
    assert.deepEqual(
      [response.statusCode, JSON.parse(Buffer.concat(chunks).toString()).code],
      [504, "deadline_exceeded"],
    );
  });

  function encodeJson(): Uint8Array {
    return Buffer.from(toJsonString(ListRolesRequestSchema, create(ListRolesRequestSchema, { pageSize: 100 })));
  }
});
