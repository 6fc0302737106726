// Connect and gRPC-web over both versions of HTTP: requests in every form, good and bad, and their responses.
import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import { after, before, describe, it } from "node:test";
import { brotliCompressSync, gunzipSync, gzipSync } from "node:zlib";
import { create, type DescMessage, type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import fc from "fast-check";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { ListRolesRequestSchema, RolesService } from "../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { authorizations, requestClock, unaryRequests } from "../unary-requests.ts";
import { binary, frame } from "./client.ts";

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

interface Sent {
  readonly path: string;
  readonly verb?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

type Send = (sent: Sent) => Promise<Answer>;

type Encode = (schema: DescMessage, init: MessageInitShape<DescMessage>) => Uint8Array;

const getGroup = `/${GroupsService.typeName}/GetGroup`;
const listRoles = `/${RolesService.typeName}/ListRoles`;

const inJson: Encode = (schema, init) => Buffer.from(toJsonString(schema, create(schema, init)));
const roles = inJson(ListRolesRequestSchema, { pageSize: 100 });
const inJsonType = { "content-type": "application/json" };

const protocols: readonly [contentType: string, encode: Encode][] = [
  ["application/proto", binary],
  ["application/json", inJson],
  ["application/grpc-web", (schema, init) => frame(binary(schema, init))],
  ["application/grpc-web+proto", (schema, init) => frame(binary(schema, init))],
  ["application/grpc-web+json", (schema, init) => frame(inJson(schema, init))],
];

function overHttp1(url: string): Send {
  return async ({ path, verb = "POST", headers, body }) => {
    const request = httpRequest(`${url}${path}`, { method: verb, headers, agent: false });
    // A server that rejects a body may close the connection while the rest of it is on its way.
    request.on("error", () => {});
    request.end(body);
    const [response] = await once(request, "response");
    const chunks = await response.toArray();
    return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
  };
}

function overHttp2(session: ClientHttp2Session): Send {
  return async ({ path, verb = "POST", headers, body }) => {
    const stream = session.request({ ":method": verb, ":path": path, ...headers }, { endStream: false });
    stream.end(body);
    const [head] = await once(stream, "response");
    const chunks = await stream.toArray();
    return { status: Number(head[":status"]), headers: { ...head }, body: Buffer.concat(chunks) };
  };
}

/** Returns how a call has ended, in the words of its protocol: its status over gRPC-web, and its code over Connect. */
function outcomeOf({ status, headers, body }: Answer): unknown[] {
  const type = String(headers["content-type"]);
  if (!type.startsWith("application/grpc-web")) return status === 200 ? [200] : [status, JSON.parse(`${body}`).code];
  return [status, /grpc-status: (\d+)/.exec(`${body}`)?.[1]];
}

describe("unary Connect and gRPC-web", () => {
  const stack = new AsyncDisposableStack();
  const clock = requestClock();
  let server: TestServer;
  let sends: Readonly<Record<string, Send>>;

  before(async () => {
    server = stack.use(await startTestServer({ clock: clock.read }));
    const session = connect(server.url);
    stack.defer(() => session.destroy());
    sends = { "HTTP/1.1": overHttp1(server.url), "HTTP/2": overHttp2(session) };
  });
  after(() => stack.disposeAsync());

  /** Calls as the owner, unless the headers say otherwise. */
  function call(http: string, sent: Sent): Promise<Answer> {
    clock.tick();
    return sends[http]!({ ...sent, headers: { authorization: `Bearer ${server.ownerToken}`, ...sent.headers } });
  }

  for (const http of ["HTTP/1.1", "HTTP/2"]) {
    for (const [contentType, encode] of protocols) {
      const named = contentType.includes("grpc") ? "grpc-encoding" : "content-encoding";
      const compressors = { gzip: gzipSync, br: brotliCompressSync };
      const compressed = (encoding: keyof typeof compressors, body: Uint8Array) =>
        contentType.includes("grpc") ? frame(compressors[encoding](body.subarray(5)), 1) : compressors[encoding](body);

      it(`${contentType} over ${http}: generated requests get the same response if they are compressed`, async () => {
        const encodings = fc.constantFrom("gzip" as const, "br" as const);
        await fc.assert(
          fc.asyncProperty(unaryRequests, authorizations, encodings, async (request, caller, encoding) => {
            const body = encode(request.schema, request.init(server.groupUid));
            const headers = { "content-type": contentType, ...caller };
            const plain = await call(http, { path: request.path, headers, body });
            const other = await call(http, {
              path: request.path,
              headers: { ...headers, [named]: encoding },
              body: compressed(encoding, body),
            });
            assert.deepEqual([other.status, `${other.body}`], [plain.status, `${plain.body}`]);
            assert.equal(other.headers["content-type"], plain.headers["content-type"]);
            assert.ok(plain.headers["x-request-id"] && other.headers["x-request-id"]);
          }),
          { numRuns: 40 },
        );
      });

      it(`${contentType} over ${http}: a long response is compressed as its request was`, async () => {
        const accept = contentType.includes("grpc") ? "grpc-accept-encoding" : "accept-encoding";
        const plain = encode(ListRolesRequestSchema, { pageSize: 100 });
        const type = { "content-type": contentType };
        const whole = await call(http, { path: listRoles, headers: { ...type, [accept]: "gzip" }, body: plain });
        assert.equal(whole.headers[named], undefined);
        const headers = { ...type, [accept]: "br, gzip", [named]: "gzip" };
        const packed = await call(http, { path: listRoles, headers, body: compressed("gzip", plain) });
        assert.deepEqual([packed.status, packed.headers[named]], [200, "gzip"]);
        if (!contentType.includes("grpc")) return assert.deepEqual(gunzipSync(packed.body), whole.body);
        const message = packed.body.subarray(5, 5 + packed.body.readUInt32BE(1));
        assert.equal(packed.body[0], 1);
        assert.deepEqual(gunzipSync(message), whole.body.subarray(5, 5 + whole.body.readUInt32BE(1)));
      });
    }

    it(`${http}: JSON that is not UTF-8 is rejected rather than changed`, async () => {
      const body = Buffer.concat([Buffer.from('{"uid":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);
      const answer = await call(http, { path: getGroup, headers: inJsonType, body });
      assert.deepEqual(outcomeOf(answer), [400, "invalid_argument"]);
    });

    it(`${http}: a caller with an invalid token learns the scheme`, async () => {
      const headers = { ...inJsonType, authorization: "Bearer x" };
      for (const encoding of [{}, { "content-encoding": "gzip" }] as Record<string, string>[]) {
        const answer = await call(http, { path: getGroup, headers: { ...headers, ...encoding }, body: roles });
        assert.deepEqual([answer.status, answer.headers["www-authenticate"]], [401, 'Bearer error="invalid_token"']);
      }
    });

    const served: [headers: Record<string, string>, outcome: unknown[]][] = [
      [{ "connect-protocol-version": "1", "connect-timeout-ms": "10000" }, [200]],
      // Further away than a timer can wait.
      [{ "connect-timeout-ms": "9999999999" }, [200]],
      [{ "content-encoding": "identity" }, [200]],
      [{ "content-type": "application/json; charset=utf-8" }, [200]],
      [{ "content-type": "Application/JSON;charset=UTF-8" }, [200]],
      [{ "content-type": "application/json; x=y" }, [200]],
      [{ "connect-timeout-ms": "soon" }, [400, "invalid_argument"]],
      [{ "connect-timeout-ms": "0" }, [504, "deadline_exceeded"]],
      [{ "content-encoding": "br" }, [400, "invalid_argument"]],
      [{ "content-encoding": "deflate" }, [501, "unimplemented"]],
    ];
    for (const [headers, outcome] of served) {
      it(`${http}: a call of Connect with ${JSON.stringify(headers)}: ${outcome}`, async () => {
        const answer = await call(http, { path: listRoles, headers: { ...inJsonType, ...headers }, body: roles });
        assert.deepEqual(outcomeOf(answer), outcome);
        if (outcome[0] === 200) assert.match(`${answer.body}`, /viewer/);
        else assert.match(`${answer.body}`, /google\.rpc\.ErrorInfo/);
      });
    }

    for (const type of ["application/json; charset=iso-8859-1", "application/connect+json", "text/plain", ""]) {
      it(`${http}: a call in ${JSON.stringify(type)} is 415, which names the types that are accepted`, async () => {
        const answer = await call(http, { path: listRoles, headers: { "content-type": type }, body: roles });
        assert.deepEqual([answer.status, answer.body.length], [415, 0]);
        assert.match(String(answer.headers["accept-post"]), /application\/proto, .*application\/json$/);
      });
    }

    for (const verb of ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      it(`${http}: ${verb} of a method is 405, which names POST`, async () => {
        const answer = await call(http, { path: listRoles, verb, headers: inJsonType, body: Buffer.alloc(0) });
        assert.deepEqual([answer.status, answer.headers.allow, answer.body.length], [405, "POST", 0]);
      });
    }

    const json = "application/json";
    const web = "application/grpc-web";
    const broken: [what: string, contentType: string, body: Uint8Array, outcome: unknown[]][] = [
      ["an empty body", json, Buffer.alloc(0), [400, "invalid_argument"]],
      ["JSON that ends early", json, Buffer.from('{"uid": '), [400, "invalid_argument"]],
      ["JSON that is not an object", json, Buffer.from("[]"), [400, "invalid_argument"]],
      ["JSON that is nested too deep", json, Buffer.from(`${"[".repeat(200)}`), [400, "invalid_argument"]],
      ["a field of another type", json, Buffer.from('{"uid": 1}'), [400, "invalid_argument"]],
      ["a field that is not known", json, Buffer.from('{"nope": 1}'), [400, "invalid_argument"]],
      ["text that is not UTF-8", json, Buffer.from([0x22, 0xff, 0x22]), [400, "invalid_argument"]],
      ["bytes that are not a message", "application/proto", Buffer.from([0xff, 0xff]), [400, "invalid_argument"]],
      ["no message", web, Buffer.alloc(0), [200, "12"]],
      ["two messages", web, Buffer.concat([frame(Buffer.alloc(0)), frame(Buffer.alloc(0))]), [200, "12"]],
      ["a part of the prefix", web, Buffer.from([0, 0]), [200, "3"]],
      ["a message cut short", web, frame(Buffer.from("x"), 0, 2), [200, "3"]],
    ];
    for (const [what, contentType, body, outcome] of broken) {
      it(`${http}: ${what} in ${contentType}: ${outcome}`, async () => {
        const headers = { "content-type": contentType };
        assert.deepEqual(outcomeOf(await call(http, { path: getGroup, headers, body })), outcome);
        if (contentType === web) return;
        const packed = { path: getGroup, headers: { ...headers, "content-encoding": "gzip" }, body: gzipSync(body) };
        assert.deepEqual(outcomeOf(await call(http, packed)), outcome);
      });
    }

    it(`${http}: an empty body is an empty message in any encoding`, async () => {
      for (const encoding of ["identity", "gzip", "br"]) {
        const headers = { "content-type": "application/proto", "content-encoding": encoding };
        assert.equal((await call(http, { path: listRoles, headers, body: Buffer.alloc(0) })).status, 200);
      }
    });

    it(`${http}: a body beyond the limit is rejected`, async () => {
      const body = Buffer.alloc(5 * 1024 * 1024, " ");
      for (const [encoding, sent] of [
        ["identity", body],
        ["gzip", gzipSync(body)],
        ["gzip", gzipSync(body, { level: 0 })],
      ] as const) {
        const answer = await call(http, {
          path: getGroup,
          headers: { ...inJsonType, "content-encoding": encoding },
          body: sent,
        });
        assert.deepEqual(outcomeOf(answer), [429, "resource_exhausted"]);
        assert.match(`${answer.body}`, /larger than 4194304 bytes/);
      }
    });

    it(`${http}: a deadline of gRPC-web may be further away than a timer can wait`, async () => {
      const headers = { "content-type": "application/grpc-web", "grpc-timeout": "87600H" };
      assert.match(`${(await call(http, { path: listRoles, headers, body: frame(Buffer.alloc(0)) })).body}`, /viewer/);
    });
  }

  it("a deadline that passes while the body arrives is reported once", async () => {
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
});
