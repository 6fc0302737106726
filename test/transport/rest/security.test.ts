// Rows of security-cases.md that are the transport's to answer, over both HTTP versions.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { create, type Message } from "@bufbuild/protobuf";
import { type Group, GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { SecurityTokenService } from "../../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { Code } from "../../../src/aip/errors.ts";
import type { Call } from "../../../src/pipeline/call.ts";
import { assertError } from "./answers.ts";
import { methodWithRule } from "./exemplar.ts";
import { methodOf } from "./methods.ts";
import { openTransports, type Sent, type Transports, versions } from "./transports.ts";

const groups = GroupsService.method;
const json = ["content-type", "application/json"];
const limit = 4 << 20;

const calls: Call[] = [];
const count = (reply: Message) => (call: Call) => {
  calls.push(call);
  return reply;
};

const methods = [
  methodOf(groups.getGroup, (_, request) =>
    create(groups.getGroup.output, { uid: (request as Message & { uid: string }).uid }),
  ),
  methodOf(groups.listGroups, count(create(groups.listGroups.output))),
  methodOf(groups.createGroup, (_, request) => (request as Message & { group: Group }).group),
  methodOf(groups.deleteGroup, count(create(groups.deleteGroup.output))),
  methodOf(groups.lookupGroup, count(create(groups.lookupGroup.output)), true),
  methodOf(SecurityTokenService.method.exchange, count(create(SecurityTokenService.method.exchange.output))),
  methodOf(methodWithRule({ pattern: { case: "post", value: "/everything" }, body: "*" })),
];

for (const version of versions) {
  describe(`hostile requests over ${version}`, () => {
    let transports: Transports;
    before(async () => {
      transports = await openTransports(methods, { maxBodyBytes: limit, bodyTimeoutMs: 5000 });
    });
    after(() => transports[Symbol.asyncDispose]());
    const send = (sent: Partial<Sent>) =>
      transports.send(version, { method: "POST", path: "/iam/v2beta1/groups", headers: json, ...sent });

    const manyMembers = `{${Array.from({ length: 300_000 }, (_, i) => `"m${i}":0`).join(",")}}`;
    const invalid: [row: string, sent: Partial<Sent>, message: string][] = [
      [
        "F4: 10,000 levels of arrays",
        { body: "[".repeat(10_000) + "]".repeat(10_000) },
        "body: must not be nested deeper than 100 levels",
      ],
      [
        "F4: 10,000 levels of objects",
        { body: '{"a":'.repeat(10_000) },
        "body: must not be nested deeper than 100 levels",
      ],
      [
        "F4: hundreds of thousands of members",
        { body: manyMembers },
        "body: must not have more than 10000 members in one object",
      ],
      ["F4: a number of 3 MB", { body: `{"verified":${"9".repeat(3_000_000)}}` }, "verified: must be true or false"],
      [
        "F4: 2 million items",
        { body: `{"name":[${"0,".repeat(2_000_000)}0]}` },
        "body: must not hold more than 200000 values",
      ],
      [
        "F4: a million lists",
        { body: `{"name":[${"[],".repeat(1_000_000)}0]}` },
        "body: must not hold more than 200000 values",
      ],
      [
        "F4: 100,000 items that are all wrong",
        { path: "/everything", body: `{"manyInt32":[${"9e9,".repeat(100_000)}1]}` },
        "many_int32[0]: is out of range for int32",
      ],
      ["F4: escapes", { body: `{"verified":"${"\\u0000".repeat(600_000)}"}` }, "verified: must be true or false"],
      ["F4: backslashes", { body: `{"name":"${"\\".repeat(4_000_000)}` }, "body: is not valid JSON"],
      [
        "F4: a member name of 3 MB",
        { body: `{"${"n".repeat(3_000_000)}":1}` },
        `${"n".repeat(200)}…: could not find field "${"n".repeat(200)}…" in "chainguard.platform.iam.v2beta1.Group"`,
      ],
      [
        "F5: an unknown @type",
        { path: "/everything", body: '{"theAny":{"@type":"type.googleapis.com/a.B"}}' },
        "the_any: must be a valid google.protobuf.Any",
      ],
      ["F5: NaN for an integer", { path: "/everything", body: '{"theInt32":NaN}' }, "body: is not valid JSON"],
      [
        "F5: Infinity as text for an integer",
        { path: "/everything", body: '{"theInt32":"Infinity"}' },
        "the_int32: must be an int32",
      ],
      ["F5: a byte order mark", { body: "\uFEFF{}" }, "body: must not begin with a byte order mark"],
      ["F5: a UTF-16 body", { body: Buffer.from('{"name":"a"}', "utf16le") }, "body: is not valid JSON"],
      [
        "F5: a UTF-16 body with its mark",
        { body: Buffer.from('\uFEFF{"name":"a"}', "utf16le") },
        "body: must be UTF-8",
      ],
      ["F5: invalid UTF-8", { body: Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d) }, "body: must be UTF-8"],
      ["F5: an overlong form", { body: Uint8Array.of(0x22, 0xc0, 0xaf, 0x22) }, "body: must be UTF-8"],
      ["F5: an encoded surrogate", { body: Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22) }, "body: must be UTF-8"],
      [
        "F6: __proto__",
        { body: '{"__proto__":{"admin":true}}' },
        '__proto__: could not find field "__proto__" in "chainguard.platform.iam.v2beta1.Group"',
      ],
      [
        "F6: constructor.prototype",
        { body: '{"constructor":{"prototype":{"admin":true}}}' },
        'constructor: could not find field "constructor" in "chainguard.platform.iam.v2beta1.Group"',
      ],
      [
        "F6: __proto__ in a map",
        { body: '{"resourceLimits":{"__proto__":1}}' },
        'resource_limits["__proto__"]: is not allowed as a key',
      ],
      ["F8: no content type", { headers: [], body: "{}" }, "content-type: must be application/json"],
      [
        "F8: text/plain",
        { headers: ["content-type", "text/plain"], body: "{}" },
        "content-type: must be application/json",
      ],
      [
        "F8: JSON in UTF-16",
        { headers: ["content-type", "application/json; charset=utf-16"], body: "{}" },
        "content-type: must be application/json",
      ],
      [
        "F8: JSON in another encoding behind a parameter",
        { headers: ["content-type", "application/json; v=1; charset=latin1"], body: "{}" },
        "content-type: must be application/json",
      ],
      [
        "F8: a form",
        { headers: ["content-type", "application/x-www-form-urlencoded"], body: '{"name":"a"}' },
        "content-type: must be application/json",
      ],
      [
        "F8: multipart",
        { headers: ["content-type", "multipart/form-data; boundary=a"], body: "--a--" },
        "content-type: must be application/json",
      ],
      [
        "F8: another JSON",
        { headers: ["content-type", "application/json-patch+json"], body: "[]" },
        "content-type: must be application/json",
      ],
      [
        "F8: two types in one",
        { headers: ["content-type", "text/plain, application/json"], body: "{}" },
        "content-type: must be application/json",
      ],
      [
        "D5: a compressed body",
        { headers: [...json, "content-encoding", "gzip"], body: "{}" },
        "content-encoding: must be identity",
      ],
    ];
    for (const [row, sent, message] of invalid) {
      it(`${row} is INVALID_ARGUMENT, the same every time`, async () => {
        for (let time = 0; time < 2; time++)
          assertError(
            await send(sent),
            message.startsWith("content-") ? 415 : 400,
            Code.INVALID_ARGUMENT,
            `Invalid argument: ${message}`,
          );
        assert.equal(({} as { admin?: boolean }).admin, undefined);
      });
    }

    const fine: [row: string, headers: string[]][] = [
      ["F8: JSON", ["content-type", "application/json"]],
      ["F8: JSON in UTF-8", ["content-type", "application/json; charset=utf-8"]],
      ["F8: JSON in quoted UTF-8, in capitals", ["content-type", 'Application/JSON;Charset="UTF-8"']],
      ["D5: an uncompressed body", [...json, "content-encoding", "identity"]],
    ];
    for (const [row, headers] of fine) {
      it(`${row} is read`, async () => assert.equal((await send({ headers, body: '{"name":"a"}' })).status, 200));
    }

    it("F8: a call without body needs no type", async () => {
      assert.equal((await send({ headers: [] })).status, 200);
      assert.equal((await send({ headers: ["content-type", "text/plain"], body: "" })).status, 200);
    });

    const tooLarge = `Resource exhausted: the body must not be larger than ${limit} bytes`;
    it("F9: a body over the limit is rejected, whether or not it says so", async () => {
      const body = `{"name":"${"a".repeat(limit)}"}`;
      assertError(await send({ body }), 413, Code.RESOURCE_EXHAUSTED, tooLarge);
      if (version === "http1") {
        const answer = await send({ body, headers: [...json, "transfer-encoding", "chunked"] });
        assertError(answer, 413, Code.RESOURCE_EXHAUSTED, tooLarge);
        assert.equal(answer.headers.connection, "close");
      }
    });

    it("F9: a body of exactly the limit is read", async () => {
      const body = `{"name":"${"a".repeat(limit - 11)}"}`;
      assert.equal(body.length, limit);
      assert.equal((await send({ body })).status, 200);
    });

    it("F9: a form over the limit is rejected", async () => {
      const headers = ["content-type", "application/x-www-form-urlencoded"];
      const answer = await send({ path: "/sts/exchange", headers, body: `aud=${"a".repeat(limit)}` });
      assertError(answer, 413, Code.RESOURCE_EXHAUSTED, tooLarge);
    });

    it("a form of a million parameters is rejected", async () => {
      const headers = ["content-type", "application/x-www-form-urlencoded"];
      const answer = await send({ path: "/sts/exchange", headers, body: "aud=&".repeat(800_000) });
      assertError(
        answer,
        400,
        Code.INVALID_ARGUMENT,
        "Invalid argument: body: must not have more than 1000 parameters",
      );
    });

    const paths: [path: string, status: number][] = [
      ["/iam/v2beta1/groups/..%2f..", 400],
      ["/iam/v2beta1/groups/%2e%2e", 400],
      ["/iam/v2beta1/groups/a/../b", 400],
      ["/iam/v2beta1/groups/a%2F.%2Fb", 400],
      ["/iam/v2beta1//groups", 400],
      ["/iam/v2beta1/groups//a", 400],
      ["/iam/v2beta1/groups/a/", 404],
      ["/iam/v2beta1/groups/%zz", 400],
      ["/iam/v2beta1/groups/%E0%A4%A", 400],
      ["/iam/v2beta1/groups%2Fa", 404],
      ["/iam/v2beta1/Groups", 404],
      ["/", 404],
    ];
    for (const [path, status] of paths) {
      it(`H1: GET ${path} is ${status}`, async () =>
        assert.equal((await send({ method: "GET", path, headers: [] })).status, status));
    }

    it("H1: a path is decoded once", async () => {
      const answer = await send({ method: "GET", path: "/iam/v2beta1/groups/%252e%252e", headers: [] });
      assert.equal((JSON.parse(answer.text) as { uid: string }).uid, "%2e%2e");
    });

    it("H2: literals and verbs resolve by the templates alone", async () => {
      const find = async (path: string) =>
        JSON.parse((await send({ method: "GET", path, headers: ["authorization", "Bearer a"] })).text);
      assert.deepEqual(await find("/iam/v2beta1/groups:lookupGroup"), {});
      assert.equal((await find("/iam/v2beta1/groups/a:lookupGroup")).uid, "a:lookupGroup");
      assert.equal((await find("/iam/v2beta1/groups/a:requestGroupAccess")).uid, "a:requestGroupAccess");
      assert.equal((await find("/iam/v2beta1/groups/a/readme")).uid, "a/readme");
      assert.equal((await find("/iam/v2beta1/groups/a/digests/b")).uid, "a/digests/b");
    });

    it("H3: a method override changes nothing", async () => {
      calls.length = 0;
      for (const name of ["x-http-method-override", "x-http-method", "x-method-override"]) {
        await send({ method: "GET", path: "/iam/v2beta1/groups", headers: [name, "POST"], body: '{"name":"a"}' });
      }
      assert.equal(calls.length, 3);
    });

    it("H3: TRACE does not echo", async () => {
      const answer = await send({ method: "TRACE", path: "/iam/v2beta1/groups", headers: ["x-secret", "canary"] });
      assert.equal(answer.status, 405);
      assert.ok(!answer.text.includes("canary"));
    });

    it("T14: a token in the query is not read", async () => {
      const answer = await send({ method: "GET", path: "/iam/v2beta1/groups:lookupGroup?access_token=a", headers: [] });
      assert.equal(answer.status, 401);
    });
  });
}
