// H: what HTTP lets a caller try.
import assert from "node:assert/strict";
import { request } from "node:http";
import { connect } from "node:http2";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { type Ground, openGround } from "./ground.ts";
import { addGroup } from "./tree.ts";

const grpcPath = "/chainguard.platform.iam.v2beta1.GroupsService/ListGroups";

describe("HTTP", () => {
  let ground: Ground;
  before(async () => {
    ground = await openGround();
  });
  after(() => ground[Symbol.asyncDispose]());

  /** One request with exactly this target and these headers. */
  function send(method: string, target: string, headers: Record<string, string> = {}, body?: string) {
    const { hostname, port } = new URL(ground.server.url);
    const authorization = `Bearer ${ground.server.ownerToken}`;
    const options = { hostname, port, method, path: target, agent: false, headers: { authorization, ...headers } };
    return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }>((resolve, reject) => {
      const sent = request(options, (reply) => {
        void text(reply).then((received) =>
          resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: received }),
        );
      });
      sent.on("error", reject).end(body);
    });
  }

  const groups = "/iam/v2beta1/groups";
  const paths = (uid: string) => [
    `${groups}/..%2f..`,
    `${groups}/%2e%2e/${uid}`,
    `${groups}/${uid}/%2e%2e/${uid}`,
    `${groups}/../groups/${uid}`,
    `${groups}//${uid}`,
    `${groups}/${uid}/`,
    `${groups}/${uid}%252f0123456789abcdef`,
    `${groups}/${uid}/./0123456789abcdef`,
    `//iam/v2beta1/groups/${uid}`,
  ];
  for (const [i, shape] of paths("<uid>").entries()) {
    it(`H1: ${shape} is INVALID_ARGUMENT or NOT_FOUND`, async () => {
      const { status } = await send("GET", paths(ground.server.groupUid)[i]!);
      assert.ok(status === 400 || status === 404, String(status));
    });
  }

  for (const ending of [":", "%3A", "::", ":%20", "/", "/:"]) {
    it(`H1: DELETE of a uid that ends in ${ending} deletes nothing`, async () => {
      const child = await addGroup(ground.server, ground.server.groupUid);
      const { status } = await send("DELETE", `${groups}/${child}${ending}`);
      assert.ok(status === 400 || status === 404, String(status));
      assert.equal((await send("GET", `${groups}/${child}`)).status, 200);
    });
  }

  const flawed: readonly [string, string, string, string?][] = [
    ["an unknown parameter", "GET", `${groups}?nope=1`],
    ["a parameter of another type", "GET", `${groups}?page_size=x`],
    ["a parameter with a malformed escape", "GET", `${groups}?name=%zz`],
    ["a path whose uid is malformed", "GET", `${groups}/none`],
    ["a body that is not JSON", "POST", groups, "{"],
    ["a body with an unknown field", "POST", groups, '{"nope":1}'],
  ];
  for (const [flaw, method, target, body] of flawed) {
    it(`reports a bad token before ${flaw}`, async () => {
      const headers = { "content-type": "application/json", authorization: "Bearer a.b.c" };
      assert.equal((await send(method, target, headers, body)).status, 401);
      assert.equal((await send(method, target, { "content-type": "application/json" }, body)).status, 400);
    });
  }

  const credentials: readonly [string, string, RegExp][] = [
    [
      "a token that is too long",
      `Bearer ${"a".repeat(16 * 1024)}`,
      /the Authorization header has more than 16384 characters/,
    ],
    ["two tokens", "Bearer a.b.c, Bearer a.b.c", /send .*Bearer <token>.* once/],
    ["a token in quotes", 'Bearer "a.b.c"', /is not of the form .*Bearer <token>/],
    ["another scheme", "Basic dXNlcjpwYXNz", /is not of the form .*Bearer <token>/],
  ];
  for (const [what, authorization, message] of credentials) {
    for (const [method, target] of [
      ["GET", groups],
      ["GET", "/sts/exchange?aud=x"],
      ["POST", "/sts/exchange_refresh_token"],
    ] as const) {
      it(`${target} names the fault of ${what}`, async () => {
        const { status, body } = await send(method, target, { authorization });
        assert.equal(status, 401);
        assert.match(body, message);
      });
    }
  }

  it("JSON over REST ends with a line break, which Content-Length includes", async () => {
    const { groupUid } = ground.server;
    const targets = [
      groups,
      `${groups}/${groupUid}`,
      "/nowhere",
      "/.well-known/openid-configuration",
      "/iam/v1/groups",
    ];
    for (const target of targets) {
      const { headers, body } = await send("GET", target);
      assert.match(body, /\}\n$/);
      assert.equal(headers["content-length"], String(Buffer.byteLength(body)));
    }
  });

  it("H1: an escaped slash in a uid is decoded once", async () => {
    const child = await addGroup(ground.server, ground.server.groupUid);
    const { status, body } = await send("GET", `${groups}/${child.replace("/", "%2F")}`);
    assert.deepEqual([status, JSON.parse(body).uid], [200, child]);
  });

  for (const suffix of [":requestGroupAccess", "/readme", "/digests/a"]) {
    it(`H2: a uid that ends in ${suffix} names no group`, async () => {
      const { status } = await send("GET", `${groups}/${ground.server.groupUid}${suffix}`);
      assert.ok(status === 400 || status === 404 || status === 405, String(status));
    });
  }

  it("H2: a literal route wins over a uid", async () => {
    const { status, body } = await send("GET", `${groups}:lookupGroup`);
    assert.equal(status, 404);
    assert.match(body, /e-mail domain/);
  });

  it("H3: a header that names another method is ignored, and so is the body of a GET", async () => {
    const child = await addGroup(ground.server, ground.server.groupUid);
    for (const name of ["x-http-method-override", "x-http-method", "x-method-override"]) {
      assert.equal((await send("GET", `${groups}/${child}`, { [name]: "DELETE" })).status, 200);
    }
    const headers = { "content-type": "application/json", "content-length": "14" };
    assert.equal((await send("GET", `${groups}/${child}`, headers, '{"uid":"none"}')).status, 200);
    assert.equal((await send("GET", `${groups}/${child}`)).status, 200);
  });

  it("H3: responds 405 to TRACE, with the allowed methods", async () => {
    const { status, headers } = await send("TRACE", groups);
    assert.deepEqual([status, headers.allow], [405, "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"]);
  });

  it("H4: the issuer comes from the configuration, not from the headers of a request", async () => {
    const spoofed = {
      host: "evil.example",
      forwarded: "host=evil.example;proto=https;for=10.0.0.1",
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "https",
      "x-forwarded-for": "10.0.0.1",
      "x-original-url": "/metrics",
    };
    const discovery = await send("GET", "/.well-known/openid-configuration", spoofed);
    assert.equal(JSON.parse(discovery.body).issuer, ground.server.config.baseUrl);
    const all = await send("GET", groups, spoofed);
    assert.equal(all.status, 200);
    assert.doesNotMatch(discovery.body + all.body + JSON.stringify(all.headers), /evil/);
  });

  const metadata: readonly [string, Record<string, string>, RegExp][] = [
    [
      "a user in the metadata",
      { "grpc-metadata-x-user": "owner", "x-user": "owner", "x-forwarded-user": "owner" },
      /^16$/,
    ],
    ["a negative time-out", { "grpc-timeout": "-1" }, /^(3|16)$/],
    ["binary metadata that is not base64", { "x-trace-bin": "%%%" }, /^(3|16)$/],
  ];
  for (const [rule, headers, code] of metadata) {
    it(`H6: ${rule} does not authenticate a caller`, async () => {
      assert.match(await grpcStatusOf(headers), code);
    });
  }

  const authorized = () => ({ authorization: `Bearer ${ground.server.ownerToken}` });
  it("H6: an invalid time-out is INVALID_ARGUMENT, from a caller too", async () => {
    assert.equal(await grpcStatusOf({ ...authorized(), "grpc-timeout": "-1" }), "3");
  });

  for (const origin of ["null", "https://evil.example"]) {
    it(`H7: the origin ${origin} is allowed nothing`, async () => {
      const plain = await send("GET", groups, { origin });
      const preflight = await send("OPTIONS", groups, {
        origin,
        "access-control-request-method": "GET",
        "access-control-request-headers": "authorization,x-other",
      });
      for (const { headers } of [plain, preflight]) {
        const allowed = Object.keys(headers).filter((name) => name.startsWith("access-control-"));
        assert.deepEqual(allowed, []);
      }
    });
  }

  it("H8: no cache may store a response or send it to another caller", async () => {
    for (const target of [groups, `${groups}/${ground.server.groupUid}`, `${groups}/${"f".repeat(40)}`]) {
      const { headers } = await send("GET", target);
      assert.deepEqual([headers["cache-control"], headers.vary], ["private, no-store", "Authorization, Origin"]);
    }
  });

  /** Returns the grpc-status of a ListGroups with these headers. */
  function grpcStatusOf(headers: Record<string, string>): Promise<string> {
    const session = connect(ground.server.url);
    const fixed = { ":method": "POST", ":path": grpcPath, "content-type": "application/grpc", te: "trailers" };
    const stream = session.request({ ...fixed, ...headers });
    stream.end(Buffer.alloc(5));
    return new Promise((resolve, reject) => {
      let status = "";
      const note = (seen: Record<string, unknown>) => {
        status = String(seen["grpc-status"] ?? status);
      };
      session.on("error", reject);
      stream.on("response", note).on("trailers", note).on("error", reject);
      stream.resume().on("close", () => {
        session.destroy();
        resolve(status);
      });
    });
  }
});
