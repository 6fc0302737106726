import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { create, createRegistry, type Message } from "@bufbuild/protobuf";
import {
  GroupSchema,
  GroupsService,
  UpdateGroupRequestSchema,
} from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { RoleBindingsService } from "../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import {
  ExchangeRequestSchema,
  RawTokenSchema,
  SecurityTokenService,
} from "../../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { TagsService } from "../../../gen/chainguard/platform/registry/v2beta1/tags_pb.ts";
import { Code, codeName, unauthenticated } from "../../../src/aip/errors.ts";
import type { Call } from "../../../src/pipeline/call.ts";
import { newRestTransport } from "../../../src/transport/rest/rest-transport.ts";
import { assertError, bodyOf } from "./answers.ts";
import { methodOf } from "./methods.ts";
import { type Answer, openTransports, type Transports, versions } from "./transports.ts";

const groups = GroupsService.method;
const uid = "0123456789abcdef0123456789abcdef01234567";
const json = ["content-type", "application/json"];

/** The arguments of the latest call. */
let seen: { call: Call; request: Message } | undefined;

function echo<T extends Message>(reply: (request: T, call: Call) => Message | Promise<Message>) {
  return (call: Call, request: Message) => {
    seen = { call, request };
    return reply(request as T, call);
  };
}

const methods = [
  methodOf(
    groups.getGroup,
    echo<Message & { uid: string }>(({ uid }) => create(GroupSchema, { uid, createTime: { seconds: 0n } })),
  ),
  methodOf(
    groups.listGroups,
    echo(() => create(groups.listGroups.output, { totalCount: 2n, groups: [{ name: "ä" }] })),
  ),
  methodOf(
    groups.createGroup,
    echo<Message & { group: Message }>(({ group }) => group),
  ),
  methodOf(
    groups.updateGroup,
    echo<Message & { group: Message }>(({ group }) => group),
  ),
  methodOf(
    groups.deleteGroup,
    echo(() => create(groups.deleteGroup.output)),
  ),
  methodOf(
    groups.lookupGroup,
    echo(() => Promise.reject(unauthenticated("no"))),
    true,
  ),
  methodOf(
    groups.checkEligibility,
    echo(() => create(groups.checkEligibility.output)),
    true,
  ),
  methodOf(
    groups.requestGroupAccess,
    echo(() => Promise.reject(new Error("secret text"))),
  ),
  methodOf(TagsService.method.listTags),
  methodOf(
    SecurityTokenService.method.exchange,
    echo<Message & { aud: string[] }>(({ aud }) => create(RawTokenSchema, { token: aud.join(" ") })),
  ),
];

const caller = ["authorization", "Bearer a"];

/** Returns the headers without those that differ from one request to the next. */
function comparable({ headers }: Answer): unknown {
  const { date, "x-request-id": requestId, ...others } = headers;
  return others;
}

for (const version of versions) {
  describe(`the REST transport over ${version}`, () => {
    let transports: Transports;
    before(async () => {
      transports = await openTransports(methods);
    });
    after(() => transports[Symbol.asyncDispose]());
    const send = (method: string, path: string, headers: readonly string[] = [], text?: string | Uint8Array) =>
      transports.send(version, { method, path, headers, ...(text === undefined ? {} : { body: text }) });

    it("responds to a GET with JSON", async () => {
      const answer = await send("GET", `/iam/v2beta1/groups/${uid}`);
      assert.equal(answer.status, 200);
      assert.equal(
        answer.text,
        `{"uid":"${uid}","resourceLimits":{},"verified":false,"createTime":"1970-01-01T00:00:00.000Z"}\n`,
      );
    });

    it("H8: sends one text of known length that is not to be kept", async () => {
      const answer = await send("GET", "/iam/v2beta1/groups");
      assert.equal(
        answer.text,
        '{"groups":[{"name":"ä","resourceLimits":{},"verified":false}],"totalCount":"2","skipped":0}\n',
      );
      assert.equal(answer.headers["content-length"], String(Buffer.byteLength(answer.text)));
      assert.equal(answer.headers["content-type"], "application/json");
      assert.equal(answer.headers["cache-control"], "private, no-store");
      assert.equal(answer.headers.vary, "Authorization, Origin");
      assert.equal(answer.headers["x-content-type-options"], "nosniff");
      assert.match(String(answer.headers["x-request-id"]), /^request-\d+$/);
    });

    it("H7: a REST response has no CORS headers", async () => {
      const origin = ["origin", "https://evil.example", "access-control-request-method", "POST"];
      for (const answer of [
        await send("GET", "/iam/v2beta1/groups", origin),
        await send("OPTIONS", "/iam/v2beta1/groups", origin),
      ]) {
        assert.deepEqual(
          Object.keys(answer.headers).filter((name) => name.startsWith("access-control-")),
          [],
        );
      }
    });

    it("responds without content for Empty", async () => {
      const answer = await send("DELETE", `/iam/v2beta1/groups/${uid}`);
      assert.equal(answer.status, 200);
      assert.equal(answer.text, "");
      assert.equal(answer.headers["content-length"], "0");
      assert.equal(answer.headers["content-type"], undefined);
      assert.equal(answer.headers["cache-control"], "private, no-store");
    });

    it("binds a POST", async () => {
      const answer = await send("POST", "/iam/v2beta1/groups", json, '{"name":"a"}');
      assert.equal(answer.text, '{"name":"a","resourceLimits":{},"verified":false}\n');
      assert.deepEqual(seen?.request, create(groups.createGroup.input, { parent: "", group: { name: "a" } }));
    });

    it("binds a PATCH with the mask that its body implies", async () => {
      const answer = await send("PATCH", `/iam/v2beta1/groups/${uid}`, json, '{"description":"","uid":"b"}');
      assert.equal(answer.status, 200);
      const expected = create(UpdateGroupRequestSchema, { group: { uid }, updateMask: { paths: ["description"] } });
      assert.deepEqual(seen?.request, expected);
    });

    it("passes the caller and its headers to the call", async () => {
      await send("GET", "/iam/v2beta1/groups", ["x-one", "1", "authorization", "Bearer a"]);
      const { call } = seen!;
      assert.equal(call.transport, "rest");
      assert.equal(call.clientAddress, "127.0.0.1");
      assert.match(call.requestId, /^request-\d+$/);
      assert.equal(call.header("x-one"), "1");
      assert.equal(call.header("authorization"), "Bearer a");
      assert.equal(call.header("x-two"), undefined);
      assert.equal(call.signal?.aborted, false);
    });

    const unknown: [
      rule: string,
      method: string,
      path: string,
      status: number,
      code: Code,
      message: string,
      allow?: string,
    ][] = [
      ["an unknown path", "GET", "/nowhere", 404, Code.NOT_FOUND, "Not Found"],
      [
        "another method",
        "PUT",
        `/iam/v2beta1/groups/${uid}`,
        405,
        Code.UNIMPLEMENTED,
        "Method Not Allowed",
        "DELETE, GET, HEAD, PATCH, POST",
      ],
      ["OPTIONS", "OPTIONS", "/sts/exchange", 405, Code.UNIMPLEMENTED, "Method Not Allowed", "GET, HEAD, POST"],
      [
        "H1: a malformed path",
        "GET",
        "/iam/v2beta1/groups/..%2f..",
        400,
        Code.INVALID_ARGUMENT,
        'Invalid argument: path: must not have segments "." or ".."',
      ],
    ];
    for (const [rule, method, path, status, code, message, allow] of unknown) {
      it(`rejects ${rule}`, async () => {
        const answer = await send(method, path);
        assertError(answer, status, code, message);
        assert.equal(answer.headers.allow, allow);
        const info = {
          "@type": "type.googleapis.com/google.rpc.ErrorInfo",
          reason: codeName(code),
          domain: "iam.rest.test",
        };
        assert.deepEqual(bodyOf(answer).details[0], info);
      });
    }

    for (const [path, domain] of [
      ["/iam/v2beta1/groups?skip=x", "iam.rest.test"],
      ["/registry/v2beta1/tags?include_dates=maybe", "registry.rest.test"],
      ["/registry/v2beta1/nothing", "iam.rest.test"],
    ] as const) {
      it(`says which area an error is of that no method made: ${path}`, async () => {
        assert.equal(bodyOf(await send("GET", path)).details[0]?.domain, domain);
      });
    }

    // RFC 9110 §9.3.2: the same headers, and no content.
    for (const [rule, path, status] of [
      ["a reply", "/iam/v2beta1/groups", 200],
      ["an error of the transport", "/nowhere", 404],
      ["an error of a method", "/iam/v2beta1/groups:lookupGroup", 401],
      // A request over HTTP/1 has room for less.
      [
        "a reply that is long",
        `/sts/exchange?aud=${"a".repeat(version === "http1" ? 15_000 : 20_000)}&identity=${uid}`,
        200,
      ],
    ] as const) {
      it(`responds to HEAD as to GET, without a body: ${rule}`, async () => {
        const [got, head] = [await send("GET", path, caller), await send("HEAD", path, caller)];
        assert.deepEqual([head.status, head.text], [status, ""]);
        assert.deepEqual(comparable(head), comparable(got));
        assert.equal(head.headers["content-length"], String(Buffer.byteLength(got.text)));
      });
    }

    it("continues after HEAD, and calls the method of GET", async () => {
      await send("HEAD", `/iam/v2beta1/groups/${uid}`);
      assert.deepEqual(seen?.request, create(groups.getGroup.input, { uid }));
      assert.equal((await send("GET", "/iam/v2beta1/groups")).status, 200);
    });

    it("H3: ignores X-HTTP-Method-Override and the body of a GET", async () => {
      const answer = await send(
        "GET",
        "/iam/v2beta1/groups",
        ["x-http-method-override", "DELETE", "content-type", "text/plain"],
        "name=a",
      );
      assert.equal(answer.status, 200);
      assert.deepEqual(seen?.request, create(groups.listGroups.input));
    });

    it("names violations in a BadRequest", async () => {
      const answer = await send("GET", "/iam/v2beta1/groups?page_size=5abc&nope=1");
      assertError(answer, 400, Code.INVALID_ARGUMENT, "Invalid argument: page_size: must be an int32");
      assert.deepEqual(bodyOf(answer).details[1], {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        fieldViolations: [
          { field: "page_size", description: "must be an int32" },
          { field: "nope", description: "is not a parameter of this method" },
        ],
      });
    });

    it("reports a violated contract as INTERNAL, without its reason", async () => {
      transports.reported.length = 0;
      const answer = await send("POST", `/iam/v2beta1/groups/${uid}:requestGroupAccess`, json, "{}");
      assertError(answer, 500, Code.INTERNAL, "Internal error");
      assert.ok(!answer.text.includes("secret"));
      assert.deepEqual(transports.reported.map(String), ["Error: secret text"]);
    });

    it("rejects a call without bearer before anything of it is read", async () => {
      seen = undefined;
      const answer = await send("GET", "/iam/v2beta1/groups:lookupGroup?nope=1");
      assertError(answer, 401, Code.UNAUTHENTICATED, "Unauthenticated: a bearer token is required");
      assert.equal(answer.headers["www-authenticate"], "Bearer");
      assert.equal(seen, undefined);
      const path = "/iam/v2beta1/groups:checkEligibility";
      assert.equal((await send("GET", path, ["authorization", "Bearer a"])).status, 200);
    });

    const forms: [rule: string, headers: string[], text: string | undefined, token: string][] = [
      ["a form", ["content-type", "application/x-www-form-urlencoded"], "aud=b&aud=c%20d", "a b c d"],
      ["a form with charset", ["content-type", "application/x-www-form-urlencoded; charset=UTF-8"], "aud=b", "a b"],
      ["a form with other parameters", ["content-type", "application/x-www-form-urlencoded; v=1;"], "aud=b", "a b"],
      ["an empty form", ["content-type", "application/x-www-form-urlencoded"], "", "a"],
      ["an empty text", ["content-type", "text/plain"], "", "a"],
      ["no body", [], undefined, "a"],
    ];
    for (const [rule, headers, text, token] of forms) {
      it(`reads the parameters of a POST without body from the query and ${rule}`, async () => {
        const answer = await send("POST", "/sts/exchange?aud=a", headers, text);
        assert.equal(answer.text, `${JSON.stringify({ token })}\n`);
      });
    }

    it("rejects what it cannot read in a POST without body", async () => {
      const answer = await send("POST", "/sts/exchange", json, '{"aud":["a"]}');
      assertError(
        answer,
        415,
        Code.INVALID_ARGUMENT,
        "Invalid argument: content-type: must be application/x-www-form-urlencoded, or the body empty",
      );
      const form = ["content-type", "application/x-www-form-urlencoded"];
      assertError(
        await send("POST", "/sts/exchange?identity=a", form, "identity=a"),
        400,
        Code.INVALID_ARGUMENT,
        "Invalid argument: identity: must not be given twice",
      );
      assertError(
        await send("POST", "/sts/exchange", form, Uint8Array.of(0x61, 0x3d, 0xff)),
        400,
        Code.INVALID_ARGUMENT,
        "Invalid argument: body: must be UTF-8",
      );
      assertError(
        await send("POST", "/sts/exchange", form, "aud=%zz"),
        400,
        Code.INVALID_ARGUMENT,
        "Invalid argument: body: has a malformed percent-escape",
      );
    });

    it("reads the parameters of a GET from the query alone", async () => {
      const form = ["content-type", "application/x-www-form-urlencoded"];
      await send("GET", "/sts/exchange?aud=a", form, "aud=b");
      assert.deepEqual(seen?.request, create(ExchangeRequestSchema, { aud: ["a"] }));
    });
  });
}

describe("newRestTransport", () => {
  const options = {
    maxBodyBytes: 1,
    bodyTimeoutMs: 1,
    maxJsonDepth: 1,
    requestTimeoutMs: 1,
    streamStallMs: 1,
    domain: "rest.test",
    anyTypes: createRegistry(),
    requestIdOf: () => "",
  };

  it("rejects conflicting routes at once, naming both", () => {
    const twice = [methodOf(groups.getGroup), { ...methodOf(groups.getGroup), path: "/other.Service/GetGroup" }];
    assert.throws(
      () => newRestTransport(twice, options),
      /GroupsService\/GetGroup, and GET .* of \/other\.Service\/GetGroup/,
    );
  });

  it("knows which paths match a method", () => {
    const gateway = newRestTransport(
      [...methods, methodOf(RoleBindingsService.method.batchCreateRoleBindings)],
      options,
    );
    assert.equal(gateway.matches("GET", "/iam/v2beta1/groups"), true);
    assert.equal(gateway.matches("POST", "/iam/v2beta1/roleBindings:batchCreate"), true);
    assert.equal(gateway.matches("PUT", "/iam/v2beta1/groups"), false);
    assert.equal(gateway.matches("GET", "/nowhere"), false);
    assert.equal(gateway.matches("GET", "/iam/v2beta1/groups/%zz"), false);
    assert.equal(gateway.matches("POST", "/chainguard.platform.iam.v2beta1.GroupsService/GetGroup"), false);
  });
});
