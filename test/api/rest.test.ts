// Tests of features and errors that only REST has: bodies, parameters and paths.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { type RawReply, sendRaw } from "./raw-rest.ts";

let server: TestServer;

const groups = "/iam/v2beta1/groups";
const unknownUid = `${"0".repeat(40)}/0000000000000000`;

/** Sends as the owner; `ROOT` in a target stands for the uid of the root group. */
function send(method: string, target: string, body?: string, type = "application/json"): Promise<RawReply> {
  const headers = body === undefined ? {} : { "content-type": type };
  return sendRaw(server.url, method, target.replaceAll("ROOT", server.groupUid), {
    headers: { authorization: `Bearer ${server.ownerToken}`, ...headers },
    ...(body === undefined ? {} : { body }),
  });
}

/** Returns the fields that an INVALID_ARGUMENT names; fails for any other reply. */
function violations({ status, json }: RawReply, wanted = 400): string[] {
  assert.deepEqual([status, json.code], [wanted, 3], JSON.stringify(json));
  const [info, badRequest] = json.details;
  assert.equal(info["@type"], "type.googleapis.com/google.rpc.ErrorInfo");
  assert.deepEqual([info.reason, info.domain], ["INVALID_ARGUMENT", "iam.gatehouse.internal"]);
  assert.equal(badRequest["@type"], "type.googleapis.com/google.rpc.BadRequest");
  for (const { description } of badRequest.fieldViolations) assert.notEqual(description, "");
  const fields = badRequest.fieldViolations.map(({ field }: { field: string }) => field);
  assert.match(json.message, new RegExp(`^Invalid argument: ${fields[0].replace(/[.[\]]/g, "\\$&")}: `));
  return fields;
}

describe("rules that only REST has", () => {
  before(async () => {
    server = await startTestServer();
  });
  after(() => server[Symbol.asyncDispose]());

  describe("bad bodies over REST", () => {
    const bodies: readonly { rule: string; body: string | undefined; fields: readonly string[]; type?: string }[] = [
      { rule: "no body", body: undefined, fields: ["name"] },
      { rule: "an empty body", body: "", fields: ["name"] },
      { rule: "an empty object", body: "{}", fields: ["name"] },
      { rule: "no JSON", body: "name=x", fields: ["body"] },
      { rule: "half a JSON", body: '{"name":"x"', fields: ["body"] },
      { rule: "two JSON texts", body: '{"name":"x"}{}', fields: ["body"] },
      { rule: "a list", body: "[]", fields: ["body"] },
      { rule: "a text", body: '"x"', fields: ["body"] },
      { rule: "a number", body: "7", fields: ["body"] },
      { rule: "null", body: "null", fields: ["body"] },
      { rule: "a member twice", body: '{"name":"x","name":"y"}', fields: ["body"] },
      { rule: "a number for a text", body: '{"name":7}', fields: ["name"] },
      { rule: "an object for a text", body: '{"name":{}}', fields: ["name"] },
      { rule: "a text for a boolean", body: '{"name":"x","verified":"yes"}', fields: ["verified"] },
      { rule: "a name that is not an enum value", body: '{"name":"x","kind":"NONSENSE"}', fields: ["kind"] },
      { rule: "a number that is not an enum value", body: '{"name":"x","kind":99}', fields: ["kind"] },
      { rule: "a text that is not a time", body: '{"name":"x","createTime":"yesterday"}', fields: ["create_time"] },
      { rule: "an unknown field", body: '{"name":"x","nam":"y"}', fields: ["nam"] },
      { rule: "several at once", body: '{"name":7,"nam":"y","verified":1}', fields: ["name", "nam", "verified"] },
      { rule: "the request around the resource", body: '{"group":{"name":"x"}}', fields: ["group"] },
      { rule: "JSON under another type", body: '{"name":"x"}', fields: ["content-type"], type: "text/plain" },
      { rule: "half a surrogate pair", body: '{"name":"x","description":"\\ud800"}', fields: ["description"] },
    ];
    for (const { rule, body, fields, type } of bodies) {
      it(`rejects ${rule}`, async () => {
        const status = type === undefined ? 400 : 415;
        assert.deepEqual(violations(await send("POST", `${groups}/ROOT`, body, type), status), fields);
      });
    }

    it("rejected requests stored nothing", async () => {
      assert.equal((await send("GET", `${groups}?uidp.children_of=ROOT`)).json.totalCount, "0");
    });
  });

  describe("bad parameters over REST", () => {
    const queries: readonly { rule: string; target: string; fields: readonly string[] }[] = [
      { rule: "an unknown parameter", target: `${groups}?pagesize=1`, fields: ["pagesize"] },
      { rule: "a parameter of a Get", target: `${groups}/ROOT?page_size=1`, fields: ["page_size"] },
      { rule: "an unknown member", target: `${groups}?uidp.below=ROOT`, fields: ["uidp.below"] },
      { rule: "a message", target: `${groups}?uidp=ROOT`, fields: ["uidp"] },
      { rule: "a text for a number", target: `${groups}?page_size=ten`, fields: ["page_size"] },
      { rule: "a fraction for a number", target: `${groups}?page_size=1.5`, fields: ["page_size"] },
      { rule: "a number that is too large", target: `${groups}?page_size=2147483648`, fields: ["page_size"] },
      { rule: "an empty number", target: `${groups}?skip=`, fields: ["skip"] },
      { rule: "negative numbers", target: `${groups}?skip=-1&page_size=-1`, fields: ["page_size", "skip"] },
      { rule: "a text for a boolean", target: `${groups}?uidp.in_root=yes`, fields: ["uidp.in_root"] },
      { rule: "a number twice", target: `${groups}?page_size=1&page_size=2`, fields: ["page_size"] },
      { rule: "a number in both spellings", target: `${groups}?page_size=1&pageSize=2`, fields: ["page_size"] },
      { rule: "a malformed escape", target: `${groups}?name=%zz`, fields: ["query"] },
      { rule: "a tampered page token", target: `${groups}?page_token=abc`, fields: ["page_token"] },
      { rule: "a value that is not a field to order by", target: `${groups}?order_by=size`, fields: ["order_by"] },
      {
        rule: "a value that is not an enum value",
        target: "/iam/v2beta1/identities?relationship_type=X",
        fields: ["relationship_type"],
      },
      {
        rule: "a filter that is not a uid",
        target: `${groups}?uidp.descendants_of=..`,
        fields: ["uidp.descendants_of"],
      },
      { rule: "a filter in upper case", target: `${groups}?uidp.ids=${"A".repeat(40)}`, fields: ["uidp.ids[0]"] },
    ];
    for (const { rule, target, fields } of queries) {
      it(`rejects ${rule}`, async () => assert.deepEqual(violations(await send("GET", target)), fields));
    }
  });

  describe("bad paths over REST", () => {
    const paths: readonly { rule: string; target: string; field: string }[] = [
      { rule: "a text that is not a uid", target: "nonsense", field: "uid" },
      { rule: "upper case", target: "A".repeat(40), field: "uid" },
      { rule: "an empty segment", target: "ROOT//0000000000000000", field: "path" },
      { rule: "an escaped empty segment", target: "ROOT%2F%2F0000000000000000", field: "uid" },
      { rule: "two dots", target: "ROOT/..", field: "path" },
      { rule: "two dots before the uid", target: "../groups/ROOT", field: "path" },
      { rule: "one dot", target: "./ROOT", field: "path" },
      { rule: "escaped dots", target: "ROOT/%2e%2e", field: "path" },
      { rule: "escaped dots and slash", target: "ROOT%2f..%2fx", field: "path" },
      { rule: "dots escaped twice", target: "ROOT/%252e%252e", field: "uid" },
      { rule: "a slash escaped twice", target: "ROOT%252F0000000000000000", field: "uid" },
      { rule: "a malformed escape", target: "ROOT/%zz", field: "path" },
      { rule: "an escape that is not UTF-8", target: "%ff", field: "path" },
      { rule: "NUL", target: "ROOT%00", field: "uid" },
      { rule: "an unknown verb", target: "ROOT:destroy", field: "uid" },
    ];
    for (const { rule, target, field } of paths) {
      for (const method of ["GET", "DELETE"]) {
        it(`rejects ${rule} in a ${method}`, async () => {
          assert.deepEqual(violations(await send(method, `${groups}/${target}`)), [field]);
        });
      }
    }

    it("distinguishes an unknown path from an unsupported method", async () => {
      const nowhere = await send("GET", "/iam/v2beta1/nonsense");
      assert.deepEqual([nowhere.status, nowhere.json.code], [404, 5]);
      assert.equal((await send("GET", `${groups}/ROOT/`)).status, 404);
      const notThere = await send("PUT", `${groups}/ROOT`, "{}");
      assert.deepEqual(
        [notThere.status, notThere.json.code, notThere.headers.allow],
        [405, 12, "DELETE, GET, HEAD, PATCH, POST"],
      );
      const rpc = await send("GET", "/chainguard.platform.iam.v2beta1.GroupsService/GetGroup");
      assert.deepEqual([rpc.status, rpc.headers.allow], [405, "POST"]);
    });
  });

  describe("masks over REST", () => {
    it("without updateMask, the fields of the body change, even to empty values", async () => {
      const { json } = await send("POST", `${groups}/ROOT`, '{"name":"masks","description":"old"}');
      const target = `${groups}/${json.uid}`;
      const cleared = await send("PATCH", target, '{"description":""}');
      assert.deepEqual([cleared.json.name, cleared.json.description], ["masks", undefined]);
      const renamed = await send("PATCH", target, '{"name":"other"}');
      assert.equal(renamed.json.name, "other");
      assert.deepEqual(violations(await send("PATCH", target, '{"name":""}')), ["name"]);
      assert.deepEqual(violations(await send("PATCH", target, '{"nam":"x"}')), ["nam"]);
    });

    it("with updateMask, other fields of the body are ignored, including unknown ones", async () => {
      const { json } = await send("POST", `${groups}/ROOT`, '{"name":"named","description":"old"}');
      const target = `${groups}/${json.uid}?updateMask=description`;
      const { status, json: changed } = await send("PATCH", target, '{"name":"x","description":"new","nam":"y"}');
      assert.deepEqual([status, changed.name, changed.description], [200, "named", "new"]);
    });

    it("a mask is written in either spelling", async () => {
      const { json } = await send(
        "POST",
        "/iam/v2beta1/identities/ROOT",
        '{"name":"i","servicePrincipal":"SERVICE_PRINCIPAL_SKILLS"}',
      );
      for (const mask of ["service_principal", "servicePrincipal"]) {
        const target = `/iam/v2beta1/identities/${json.uid}?update_mask=${mask}`;
        const body = `{"name":"x","servicePrincipal":"${mask === "servicePrincipal" ? "SERVICE_PRINCIPAL_SKILLS" : "SERVICE_PRINCIPAL_MICROVM"}"}`;
        const { json: changed } = await send("PATCH", target, body);
        assert.deepEqual([changed.name, changed.servicePrincipal], ["i", JSON.parse(body).servicePrincipal]);
      }
    });

    it("the uid of the path overrides the body", async () => {
      const { json } = await send("POST", `${groups}/ROOT`, '{"name":"mine"}');
      const { json: changed } = await send(
        "PATCH",
        `${groups}/${json.uid}`,
        `{"uid":"${unknownUid}","description":"x"}`,
      );
      assert.deepEqual([changed.uid, changed.description], [json.uid, "x"]);
    });
  });

  describe("replies over REST", () => {
    it("prints what the specification shows: zero values but empty texts, and milliseconds", async () => {
      const { json, status } = await send("POST", `${groups}/ROOT`, '{"name":"shown"}');
      const { uid, createTime, updateTime, ...rest } = json;
      assert.deepEqual([status, rest], [200, { name: "shown", resourceLimits: {}, verified: false }]);
      assert.match(uid, /^[0-9a-f]{40}\/[0-9a-f]{16}$/);
      assert.match(createTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.equal(updateTime, createTime);
    });

    it("a list without results has its list, its total and its skip", async () => {
      const { json } = await send("GET", `${groups}?name=none`);
      assert.deepEqual(json, { groups: [], totalCount: "0", skipped: 0 });
    });

    it("a root group is created with and without a trailing slash", async () => {
      for (const target of [groups, `${groups}/`]) {
        const { json } = await send("POST", target, '{"name":"root"}');
        assert.match(json.uid, /^[0-9a-f]{40}$/);
      }
    });

    it("an escaped uid is the uid", async () => {
      const { json } = await send("POST", `${groups}/ROOT`, '{"name":"escaped"}');
      for (const uid of [encodeURIComponent(json.uid), json.uid.replace("/", "%2f"), json.uid]) {
        assert.equal((await send("GET", `${groups}/${uid}`)).json.uid, json.uid);
      }
    });

    it("a delete returns an empty body", async () => {
      const { json } = await send("POST", `${groups}/ROOT`, '{"name":"gone"}');
      const { status, headers, text } = await send("DELETE", `${groups}/${json.uid}`);
      assert.deepEqual([status, headers["content-length"], text], [200, "0", ""]);
    });
  });
});
