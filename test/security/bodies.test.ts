// F: bodies, masks and JSON that try to write more than they may.
import assert from "node:assert/strict";
import { connect } from "node:http2";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { limits } from "../../src/server/limits.ts";
import { rest } from "../harness/rest.ts";
import { codeOf, type Ground, openGround, replyOf } from "./ground.ts";
import { addCaller, addGroup, ownerRole } from "./tree.ts";

describe("bodies, masks and JSON", () => {
  let ground: Ground;
  let root: string;
  let token: string;
  before(async () => {
    ground = await openGround();
    root = await addGroup(ground.server, null, "root");
    // An owner who does not run the installation.
    ({ token } = await addCaller(ground.server, root, ownerRole.uid));
  });
  after(() => ground[Symbol.asyncDispose]());

  const send = (method: string, path: string, body?: unknown) =>
    rest(ground.server.url, token, method, `/iam/v2beta1/${path}`, body);
  const post = (body: unknown) => send("POST", `groups/${root}`, body);
  const group = async (uid = root) => replyOf(await ground.once(token, "GroupsService/GetGroup", { uid }));

  const serverFields = {
    uid: "f".repeat(40),
    createTime: "2001-01-01T00:00:00Z",
    verified: true,
    resourceLimits: { idps: 9 },
  };

  it("F1: a create ignores fields that only the server or its operators may set", async () => {
    const created = await ground.everywhere(token, "GroupsService/CreateGroup", {
      parent: root,
      group: { name: "g", kind: "ORG_KIND_INFRA", ...serverFields },
    });
    const { uid, verified, resourceLimits, kind, createTime } = replyOf(created);
    assert.ok(String(uid).startsWith(`${root}/`));
    assert.deepEqual([verified, resourceLimits, kind], [undefined, undefined, undefined]);
    assert.ok(Date.parse(String(createTime)) > Date.parse("2002-01-01"));
  });

  it("F1: an update ignores them too, without a mask and with a full one", async () => {
    const before = await group();
    for (const updateMask of [undefined, "*"]) {
      const update = { group: { ...serverFields, uid: root, name: "root" }, ...(updateMask ? { updateMask } : {}) };
      const { updateTime: _was, ...kept } = before;
      const { updateTime: _is, ...now } = replyOf(await ground.everywhere(token, "GroupsService/UpdateGroup", update));
      assert.deepEqual(now, kept);
    }
  });

  for (const field of ["uid", "createTime", "resourceLimits", "verified"]) {
    it(`F1: a mask that names ${field} writes nothing or is INVALID_ARGUMENT`, async () => {
      const { updateTime: _was, ...kept } = await group();
      const update = { group: { ...serverFields, uid: root }, updateMask: field };
      assert.match(
        codeOf(await ground.everywhere(token, "GroupsService/UpdateGroup", update)),
        /^(OK|INVALID_ARGUMENT)$/,
      );
      const { updateTime: _is, ...now } = await group();
      assert.deepEqual(now, kept);
    });
  }

  const masks: readonly [string, string, string][] = [
    ["the same path twice", "description,description", "OK"],
    ["two paths", "name,description", "OK"],
    ["a path into a scalar", "name.first.second", "INVALID_ARGUMENT"],
    ["an unknown path", "nonsense", "INVALID_ARGUMENT"],
    ["10,000 paths", Array.from({ length: 10_000 }, (_, i) => `path${i}`).join(","), "INVALID_ARGUMENT"],
  ];
  for (const [rule, updateMask, code] of masks) {
    it(`F2: a mask with ${rule} is ${code}`, async () => {
      const update = { group: { uid: root, name: "root" }, updateMask };
      for (const apiClient of ground.apiClients.filter(({ name }) => name !== "rest" || updateMask.length < 1000)) {
        assert.equal(codeOf(await apiClient.call(token, updateGroup, update)), code, apiClient.name);
      }
    });
  }

  for (const mask of ["__proto__", "constructor", "toString"]) {
    it(`F2, F6: the mask ${mask} is INVALID_ARGUMENT`, async () => {
      assert.equal((await send("PATCH", `groups/${root}?updateMask=${mask}`, { name: "root" })).status, 400);
    });
  }

  it("F2: both spellings of a path are understood, and an empty mask counts as absent", async () => {
    for (const mask of ["updateMask=description", "update_mask=description", "updateMask="]) {
      const { status, body } = await send("PATCH", `groups/${root}?${mask}`, { description: mask });
      assert.deepEqual([status, body.description], [200, mask]);
    }
  });

  it("F3: the path names the updated resource, not the body", async () => {
    const other = await addGroup(ground.server, root, "other");
    const { status, body } = await send("PATCH", `groups/${root}?updateMask=description`, {
      uid: other,
      description: "mine",
    });
    assert.deepEqual([status, body.uid], [200, root]);
    assert.equal((await group(other)).description, undefined);
  });

  const wholes: readonly [string, () => string | Buffer, number][] = [
    ["F4: JSON 10,000 levels deep", () => `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`, 400],
    ["F4: 100,000 keys", () => `{${Array.from({ length: 100_000 }, (_, i) => `"k${i}":1`).join(",")}}`, 400],
    ["F4: a number of a million digits", () => `{"name":${"9".repeat(1_000_000)}}`, 400],
    ["F4: an array of a million elements", () => `{"name":[${"1,".repeat(1_000_000)}1]}`, 400],
    ["F4: a text of escapes", () => `{"name":"${"\\u0041".repeat(500_000)}"}`, 400],
    ["F4, F9: a body over the limit", () => `{"name":"${"a".repeat(limits.bodyBytes)}"}`, 413],
    ["F5: NaN where an integer belongs", () => '{"name":"a","resourceLimits":{"idps":NaN}}', 400],
    ["F5: a byte order mark", () => '\ufeff{"name":"a"}', 400],
    ["F5: UTF-16", () => Buffer.from('{"name":"a"}', "utf16le"), 400],
    ["F5: bytes that are not UTF-8", () => Buffer.from([0x7b, 0x22, 0x61, 0xff, 0x22, 0x7d]), 400],
    ["F6: __proto__", () => '{"name":"a","__proto__":{"admin":true}}', 400],
    ["F6: constructor.prototype", () => '{"name":"a","constructor":{"prototype":{"admin":true}}}', 400],
  ];
  for (const [rule, make, status] of wholes) {
    it(`${rule} gets the status ${status}, the same every time`, async () => {
      for (let i = 0; i < 2; i++) assert.equal(await statusOf(make(), "application/json"), status);
      assert.equal(({} as { admin?: boolean }).admin, undefined);
      assert.equal((await post({ name: "alive" })).status, 200);
    });
  }

  it("F4: does not decode a body without a token or with an invalid token", async () => {
    const url = `${ground.server.url}/iam/v2beta1/groups/${root}`;
    for (const body of ["{", '{"a":'.repeat(10_000), "\ufeff{}"]) {
      const headers = { authorization: "Bearer none", "content-type": "application/json" };
      assert.equal((await fetch(url, { method: "POST", headers, body })).status, 401);
    }
  });

  const texts: readonly [string, JsonObject, string][] = [
    ["a line break", { name: "a\nb" }, "INVALID_ARGUMENT"],
    ["a tab", { name: "a\tb" }, "INVALID_ARGUMENT"],
    ["NUL", { name: "a\0b" }, "INVALID_ARGUMENT"],
    ["an upper-case letter", { name: "Abc" }, "INVALID_ARGUMENT"],
    ["a zero-width character", { name: "a\u200bb" }, "INVALID_ARGUMENT"],
    ["a direction character", { name: "a\u202eb" }, "INVALID_ARGUMENT"],
    ["a line break at its end", { name: "good\n" }, "INVALID_ARGUMENT"],
    ["one letter", { name: "a" }, "OK"],
    ["one space", { name: " " }, "OK"],
    ["a description of 512 code points", { name: "a", description: "\u{1f600}".repeat(512) }, "OK"],
    ["a description of 513 code points", { name: "a", description: "\u{1f600}".repeat(513) }, "INVALID_ARGUMENT"],
    ["a description with NUL", { name: "a", description: "a\0" }, "INVALID_ARGUMENT"],
    ["a description with a tab", { name: "a", description: "a\tb" }, "INVALID_ARGUMENT"],
    ["a description with a line break", { name: "a", description: "a\nb" }, "INVALID_ARGUMENT"],
  ];
  for (const [rule, fields, code] of texts) {
    it(`F7: creating a group named with ${rule} returns ${code}`, async () => {
      const outcome = await ground.everywhere(token, "GroupsService/CreateGroup", { parent: root, group: fields });
      assert.equal(codeOf(outcome), code);
      if (code !== "OK") assert.match(JSON.stringify(outcome.details), /fieldViolations/);
    });
  }

  for (const kind of ["IdentitiesService/CreateIdentity identity", "RolesService/CreateRole role"]) {
    it(`F7: ${kind.split(" ")[1]} names follow the same pattern`, async () => {
      const [method = "", field = ""] = kind.split(" ");
      const rest = { claimMatch: { issuer: "https://i.example", subject: "s" } };
      const value = field === "role" ? { capabilities: ["CAP_IAM_GROUPS_LIST"] } : rest;
      const outcome = await ground.everywhere(token, method, { parent: root, [field]: { name: "Upper", ...value } });
      assert.equal(codeOf(outcome), "INVALID_ARGUMENT");
    });
  }

  const types = [
    "",
    "text/plain",
    "application/json; charset=utf-16",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=a",
  ];
  for (const type of types) {
    it(`F8: a body of the type ${JSON.stringify(type)} changes nothing`, async () => {
      const count = async () => replyOf(await ground.once(token, "GroupsService/ListGroups", {})).totalCount;
      const before = await count();
      assert.match(String(await statusOf('{"name":"typed"}', type)), /^(400|415)$/);
      assert.equal(await count(), before);
    });
  }

  it("F8: a call without a body needs no type", async () => {
    assert.equal((await send("GET", `groups/${root}`)).status, 200);
    assert.equal((await send("DELETE", `groups/${await addGroup(ground.server, root)}`)).status, 200);
  });

  it("F9: a message over the limit is RESOURCE_EXHAUSTED over RPC", async () => {
    const large = { parent: root, group: { name: "a".repeat(limits.bodyBytes) } };
    for (const apiClient of ground.apiClients.filter(({ name }) => name !== "rest")) {
      assert.equal(codeOf(await apiClient.call(token, createGroup, large)), "RESOURCE_EXHAUSTED", apiClient.name);
    }
  });

  it("F10: returns markup in a text as JSON that no browser renders as a page", async () => {
    const description = "<script>alert(1)</script>[a](javascript:alert(1))";
    const created = await post({ name: "a", description });
    const refused = await post({ name: description });
    assert.equal(created.body.description, description);
    for (const { headers } of [created, refused]) {
      assert.match(String(headers.get("content-type")), /^application\/json/);
      assert.equal(headers.get("x-content-type-options"), "nosniff");
    }
  });

  /** Returns the status of a POST with these bytes under this content type; none when it is empty. */
  function statusOf(body: string | Buffer, type: string): Promise<number> {
    const session = connect(ground.server.url);
    const headers = { ":method": "POST", ":path": `/iam/v2beta1/groups/${root}`, authorization: `Bearer ${token}` };
    const stream = session.request({ ...headers, ...(type === "" ? {} : { "content-type": type }) });
    return new Promise((resolve, reject) => {
      session.on("error", reject);
      stream.on("response", (seen) => {
        resolve(Number(seen[":status"]));
        session.destroy();
      });
      stream.on("error", () => {});
      stream.end(body);
    });
  }
});

const updateGroup = "/chainguard.platform.iam.v2beta1.GroupsService/UpdateGroup";
const createGroup = "/chainguard.platform.iam.v2beta1.GroupsService/CreateGroup";
