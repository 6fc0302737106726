// The requests that Okta and Entra document, and what clients may send by RFC 7644.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { scimLimits } from "../../src/scim/limits.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import type { TestServer } from "../harness/server.ts";
import {
  createProvider,
  enableScim,
  enterpriseSchema,
  groupSchema,
  patchSchema,
  type ScimClient,
  startProvisionedServer,
  userSchema,
} from "./provisioning.ts";

after(stopPostgres);

for (const database of databases) {
  describe(`SCIM, ${database}`, () => {
    let server: TestServer;
    let scim: ScimClient;
    before(async () => {
      server = await startProvisionedServer({ database });
      scim = await enableScim(server, await createProvider(server));
    });
    after(() => server[Symbol.asyncDispose]());

    const list = async (kind: string, query: Record<string, string>) => {
      const { status, body } = await scim.send("GET", `/${kind}?${new URLSearchParams(query)}`);
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    };
    const create = async (userName: string, more: object = {}) => {
      const { status, body } = await scim.send("POST", "/Users", { schemas: [userSchema], userName, ...more });
      assert.equal(status, 201, JSON.stringify(body));
      return body;
    };
    const patch = async (path: string, ...Operations: unknown[]) =>
      await scim.send("PATCH", path, { schemas: [patchSchema], Operations });
    const refused = async (
      type: string | undefined,
      reply: { status: number; body: { scimType?: string } },
      status = 400,
    ) => {
      assert.equal(reply.status, status, JSON.stringify(reply.body));
      assert.equal(reply.body.scimType, type, JSON.stringify(reply.body));
    };

    it("takes the requests by which Okta provisions a person", async () => {
      const filter = 'userName eq "test.user@okta.local"';
      const none = await list("Users", { filter, startIndex: "1", count: "100" });
      assert.deepEqual([none.totalResults, none.Resources], [0, []]);
      const user = {
        schemas: [userSchema],
        userName: "test.user@okta.local",
        name: { givenName: "Test", familyName: "User" },
        emails: [{ primary: true, value: "test.user@okta.local", type: "work" }],
        displayName: "Test User",
        locale: "en-US",
        externalId: "00ujl29u0le5T6Aj10h7",
        groups: [],
        password: "1mz050nq",
        active: true,
      };
      const created = await scim.send("POST", "/Users", user);
      assert.equal(created.status, 201);
      const { id, meta, ...shown } = created.body;
      const { groups: _, password: __, ...expected } = user;
      assert.deepEqual(shown, expected);
      assert.equal(created.headers.get("location"), meta.location);
      assert.equal(created.headers.get("content-type"), "application/scim+json");
      const path = `/Users/${id}`;
      const { externalId: ___, ...put } = { ...user, id, meta, name: { givenName: "Another", familyName: "User" } };
      const replaced = await scim.send("PUT", path, put);
      assert.equal(replaced.status, 200);
      assert.equal(replaced.body.name.givenName, "Another");
      assert.equal(replaced.body.externalId, user.externalId);
      const off = await patch(path, { op: "replace", value: { active: false } });
      assert.equal(off.body.active, false);
      assert.equal((await scim.send("GET", path)).body.active, false);
      const again = await scim.send("POST", "/Users", { ...user, userName: "TEST.USER@okta.local" });
      await refused("uniqueness", again, 409);
    });

    it("takes the requests by which Okta pushes a group", async () => {
      const [first, second] = [await create("member-1"), await create("member-2")];
      const created = await scim.send("POST", "/Groups", {
        schemas: [groupSchema],
        displayName: "Test SCIMv2",
        members: [],
      });
      assert.equal(created.status, 201);
      const path = `/Groups/${created.body.id}`;
      const renamed = await patch(path, { op: "replace", value: { id: created.body.id, displayName: "Renamed" } });
      assert.equal(renamed.body.displayName, "Renamed");
      const added = await patch(
        path,
        { op: "remove", path: `members[value eq "${first.id}"]` },
        { op: "add", path: "members", value: [{ value: second.id, display: "member-2" }, { value: first.id }] },
      );
      assert.equal(added.body.members.length, 2);
      const members = [{ value: second.id, display: "member-2" }];
      const put = await scim.send("PUT", path, {
        schemas: [groupSchema],
        id: created.body.id,
        displayName: "Renamed",
        members,
      });
      assert.deepEqual(
        put.body.members.map(({ value }: { value: string }) => value),
        [second.id],
      );
      assert.deepEqual((await scim.send("GET", `/Users/${second.id}`)).body.groups[0].display, "Renamed");
      assert.equal((await scim.send("DELETE", path)).status, 204);
      assert.equal((await scim.send("GET", path)).status, 404);
    });

    it("takes the requests by which Entra provisions a person", async () => {
      const { id } = await create("Test_User_ab6490ee@testuser.com", {
        schemas: [userSchema, enterpriseSchema],
        externalId: "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef",
        emails: [{ primary: true, type: "work", value: "old@testuser.com" }],
        meta: { resourceType: "User" },
        name: { formatted: "a b", familyName: "b", givenName: "a" },
        roles: [],
      });
      const found = await list("Users", { filter: 'userName eq "test_user_AB6490EE@testuser.com"' });
      assert.equal(found.Resources[0].id, id);
      assert.equal(
        (await list("Users", { filter: 'externalId eq "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef"' })).totalResults,
        1,
      );
      const { body } = await patch(
        `/Users/${id}`,
        { op: "Add", path: "emails", value: [{ primary: true, type: "work", value: "old@testuser.com" }] },
        { op: "Replace", path: 'emails[type eq "work"].value', value: "updated@testuser.com" },
        { op: "Replace", path: "name.familyName", value: "updatedFamilyName" },
        { op: "Add", path: 'phoneNumbers[type eq "mobile"].value', value: "+1 555" },
        { op: "Add", path: `${enterpriseSchema}:department`, value: "Sales" },
        { op: "Add", path: `${enterpriseSchema}:manager`, value: "0123456789abcdef" },
        { op: "Replace", path: "active", value: "False" },
        { op: "Add", path: 'roles[primary eq "True"].value', value: "ignored" },
        { op: "Replace", value: { "name.givenName": "dotted", displayName: "Shown" } },
      );
      assert.deepEqual(body.emails, [{ primary: true, type: "work", value: "updated@testuser.com" }]);
      assert.deepEqual(body.name, { formatted: "a b", familyName: "updatedFamilyName", givenName: "dotted" });
      assert.deepEqual(body.phoneNumbers, [{ type: "mobile", value: "+1 555" }]);
      assert.deepEqual(body[enterpriseSchema], { department: "Sales", manager: { value: "0123456789abcdef" } });
      assert.deepEqual([body.active, body.displayName, body.roles], [false, "Shown", undefined]);
    });

    it("takes the requests by which Entra provisions a group", async () => {
      const { id: user } = await create("entra-member");
      const group = {
        schemas: [groupSchema, "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group"],
      };
      const created = await scim.send("POST", "/Groups", {
        ...group,
        externalId: "8aa1a0c0",
        displayName: "displayName",
      });
      const { id } = created.body;
      const found = await list("Groups", { excludedAttributes: "members", filter: 'displayName eq "DISPLAYNAME"' });
      assert.equal(found.Resources[0].id, id);
      await patch(`/Groups/${id}`, { op: "Add", path: "members", value: [{ $ref: null, value: user }] });
      const filter = `id eq "${id}" and members eq "${user}"`;
      assert.equal((await list("Groups", { filter })).totalResults, 1);
      assert.equal((await scim.send("GET", `/Groups/${id}?excludedAttributes=members`)).body.members, undefined);
      const removed = await patch(`/Groups/${id}`, {
        op: "Remove",
        path: "members",
        value: [{ $ref: null, value: user }],
      });
      assert.equal(removed.body.members, undefined);
    });

    it("pages, counts and projects lists", async () => {
      const own = await enableScim(server, await createProvider(server));
      const names = Array.from({ length: 7 }, (_, i) => `page-${i}`);
      for (const userName of names) await own.send("POST", "/Users", { schemas: [userSchema], userName, title: "x" });
      const page = async (query: string) => (await own.send("GET", `/Users?${query}`)).body;
      const first = await page("startIndex=1&count=3&attributes=userName");
      assert.deepEqual([first.totalResults, first.itemsPerPage, first.startIndex], [7, 3, 1]);
      assert.deepEqual(Object.keys(first.Resources[0]).sort(), ["id", "schemas", "userName"]);
      const rest = await page("startIndex=4&count=500");
      const seen = [...first.Resources, ...rest.Resources].map(({ userName }) => userName);
      assert.deepEqual(seen.sort(), names);
      assert.equal((await page("count=0")).Resources.length, 0);
      assert.equal((await page("count=-1&startIndex=-5")).totalResults, 7);
      const filtered = async (filter: string) => (await page(new URLSearchParams({ filter }).toString())).totalResults;
      assert.equal(await filtered('userName sw "PAGE-"'), 7);
      assert.equal(await filtered('userName co "-3" or userName ew "-4"'), 2);
      assert.equal(await filtered('not (userName eq "page-1")'), 6);
      assert.equal(await filtered('title pr and active eq true and meta.created gt "2020-01-01T00:00:00Z"'), 7);
      assert.equal(await filtered('title eq "X" and userName sw "page-1"'), 1);
      assert.equal(await filtered('meta.lastModified gt "2999-01-01T00:00:00Z"'), 0);
      assert.equal(await filtered('emails[type eq "work" and value co "@"]'), 0);
      assert.equal(await filtered(`${userSchema}:userName eq "page-2"`), 1);
      assert.deepEqual((await own.send("GET", "/Groups?filter=userName+eq+%22page-1%22")).body.totalResults, 0);
      const search = { schemas: ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"], filter: 'userName sw "page"' };
      const found = (await own.send("POST", "/.search", { ...search, attributes: ["userName"], startIndex: 7 })).body;
      assert.deepEqual([found.totalResults, found.Resources.length], [7, 1]);
    });

    it("a search over users and groups together returns at most count resources, and paging neither repeats nor misses any", async () => {
      const own = await enableScim(server, await createProvider(server));
      const ids: string[] = [];
      for (const name of ["a", "b", "c"]) {
        const user = { schemas: [userSchema], userName: `searched-${name}` };
        const group = { schemas: [groupSchema], displayName: `searched-${name}` };
        ids.push((await own.send("POST", "/Users", user)).body.id, (await own.send("POST", "/Groups", group)).body.id);
      }
      const schemas = ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"];
      for (const count of [1, 2, 4, 6]) {
        const seen: string[] = [];
        for (let startIndex = 1; startIndex <= ids.length; startIndex += count) {
          const { body } = await own.send("POST", "/.search", { schemas, startIndex, count });
          assert.equal(body.totalResults, ids.length);
          assert.equal(
            body.Resources.length,
            Math.min(count, ids.length - startIndex + 1),
            `${count} from ${startIndex}`,
          );
          seen.push(...body.Resources.map(({ id }: { id: string }) => id));
        }
        assert.deepEqual(seen.sort(), ids.toSorted());
      }
    });

    it("reads the texts of a filter as JSON, in every operator and in paths", async () => {
      const name = 'R&D "north" \\ü\\';
      const user = await create("CORP\\uwe", { displayName: name, emails: [{ value: "a\\b@x.org", type: "(home" }] });
      const finds = async (filter: string) =>
        assert.deepEqual(
          (await list("Users", { filter })).Resources.map(({ id }: { id: string }) => id),
          [user.id],
          filter,
        );
      await finds(String.raw`userName eq "CORP\\uwe"`);
      await finds(String.raw`userName eq "CORP\u005cuwe"`);
      await finds(String.raw`displayName eq "R\u0026D \"north\" \\\u00fc\\"`);
      await finds(String.raw`displayName eq "R&D \"north\" \\ü\\" and active eq true`);
      await finds(String.raw`displayName sw "R\u0026D" and userName ew "\\uwe"`);
      await finds(String.raw`emails[value eq "a\\b@x.org" and type eq "(home"]`);
      await refused(
        "invalidFilter",
        await scim.send("GET", `/Users?${new URLSearchParams({ filter: String.raw`userName eq "CORP\uwe"` })}`),
      );
      const { body } = await patch(`/Users/${user.id}`, {
        op: "replace",
        path: String.raw`emails[value eq "a\u005cb@x.org"].type`,
        value: "work",
      });
      assert.deepEqual(body.emails, [{ value: "a\\b@x.org", type: "work" }]);
    });

    it("keeps whether a person is active where a request has null or nothing for it", async () => {
      const { id } = await create("null-active", { active: null });
      const path = `/Users/${id}`;
      const isActive = async (found: string) => {
        const { active } = (await scim.send("GET", path)).body;
        const filter = `userName eq "null-active" and active eq ${active}`;
        assert.equal((await list("Users", { filter })).totalResults, 1, found);
        return active;
      };
      const put = (active?: null) =>
        scim.send("PUT", path, { schemas: [userSchema], userName: "null-active", ...(active === null && { active }) });
      for (const active of [true, false]) {
        await patch(path, { op: "replace", path: "active", value: active });
        for (const operation of [
          { op: "replace", path: "active", value: null },
          { op: "add", path: "active", value: null },
          { op: "replace", value: { active: null } },
        ]) {
          assert.equal((await patch(path, operation)).body.active, active, JSON.stringify(operation));
          assert.equal(await isActive(JSON.stringify(operation)), active);
        }
        // A removed attribute is not shown, and the user stays active or inactive as before.
        assert.equal((await patch(path, { op: "remove", path: "active" })).body.active, undefined);
        assert.equal((await put(null)).body.active, active);
        assert.equal((await put()).body.active, active);
      }
    });

    it("takes the value of a PATCH as text of JSON, and a filter on the manager", async () => {
      const user = await create("json-text", { displayName: "[1]" });
      const path = `/Users/${user.id}`;
      const off = await patch(path, { op: "replace", value: '{"active":false,"displayName":"{2}"}' });
      assert.deepEqual([off.body.active, off.body.displayName], [false, "{2}"]);
      const manager = `${enterpriseSchema}:manager`;
      const set = await patch(
        path,
        { op: "replace", path: "emails", value: '[{"value":"a@x.org","type":"work"}]' },
        { op: "add", path: manager, value: '{"value":"m1"}' },
      );
      assert.deepEqual(set.body.emails, [{ value: "a@x.org", type: "work" }]);
      assert.deepEqual(set.body[enterpriseSchema].manager, { value: "m1" });
      const changed = await patch(path, { op: "replace", path: `${manager}[value eq "m1"].value`, value: "m2" });
      assert.deepEqual(changed.body[enterpriseSchema].manager, { value: "m2" });
      await refused(
        "noTarget",
        await patch(path, { op: "replace", path: `${manager}[value eq "m1"].value`, value: "x" }),
      );
      const kept = await patch(path, { op: "remove", path: `${manager}[value eq "m1"]` });
      assert.deepEqual(kept.body[enterpriseSchema].manager, { value: "m2" });
      const removed = await patch(path, { op: "remove", path: `${manager}[value eq "m2"]` });
      assert.equal(removed.body[enterpriseSchema], undefined);
      const group = await scim.send("POST", "/Groups", { schemas: [groupSchema], displayName: "json" });
      const members = `[{"value":"${user.id}"}]`;
      const grown = await patch(`/Groups/${group.body.id}`, { op: "add", path: "members", value: members });
      assert.equal(grown.body.members[0].value, user.id);
    });

    it("serves entity tags", async () => {
      const { id, meta } = await create("tagged");
      const path = `/Users/${id}`;
      assert.equal((await scim.send("GET", path)).headers.get("etag"), meta.version);
      assert.equal((await scim.send("GET", path, undefined, { "if-none-match": meta.version })).status, 304);
      const change = { schemas: [patchSchema], Operations: [{ op: "replace", path: "title", value: "a" }] };
      const changed = await scim.send("PATCH", path, change, { "if-match": meta.version });
      assert.equal(changed.status, 200);
      assert.notEqual(changed.headers.get("etag"), meta.version);
      await refused(undefined, await scim.send("PATCH", path, change, { "if-match": meta.version }), 412);
      await refused(undefined, await scim.send("DELETE", path, undefined, { "if-match": meta.version }), 412);
      // A change of nothing keeps the version.
      assert.equal((await scim.send("PATCH", path, change)).headers.get("etag"), changed.headers.get("etag"));
      assert.equal((await scim.send("DELETE", path, undefined, { "if-match": "*" })).status, 204);
    });

    it("rejects what is not valid, with the error of RFC 7644", async () => {
      const { id } = await create("errors");
      const path = `/Users/${id}`;
      await refused("invalidSyntax", await scim.send("POST", "/Users", "{"));
      await refused("invalidSyntax", await scim.send("POST", "/Users", []));
      await refused("invalidSyntax", await scim.send("POST", "/Users", { userName: "x" }));
      await refused("invalidValue", await scim.send("POST", "/Users", { schemas: [userSchema] }));
      await refused(
        "invalidValue",
        await scim.send("POST", "/Users", { schemas: [userSchema], userName: "x".repeat(513) }),
      );
      await refused("invalidValue", await scim.send("POST", "/Users", { schemas: [userSchema], userName: "x\0" }));
      await refused(
        "invalidValue",
        await scim.send("POST", "/Users", { schemas: [userSchema], userName: "x", active: "maybe" }),
      );
      await refused("invalidFilter", await scim.send("GET", "/Users?filter=userName+like+1"));
      await refused("invalidFilter", await scim.send("GET", `/Users?filter=${"(".repeat(100)}`));
      await refused(
        "invalidFilter",
        await scim.send("GET", `/Users?filter=${encodeURIComponent(`userName eq "${"\n".repeat(60)}`)}`),
      );
      await refused("invalidValue", await scim.send("GET", "/Users?count=many"));
      await refused("mutability", await patch(path, { op: "replace", path: "id", value: "x" }));
      await refused("mutability", await patch(path, { op: "add", path: "groups", value: [{ value: "x" }] }));
      await refused("invalidPath", await patch(path, { op: "replace", path: "emails[", value: "x" }));
      await refused("invalidPath", await patch(path, { op: "replace", path: "title.sub", value: "x" }));
      await refused("noTarget", await patch(path, { op: "remove" }));
      await refused("noTarget", await patch(path, { op: "replace", path: 'emails[value co "a"].type', value: "x" }));
      await refused("invalidValue", await patch(path, { op: "remove", path: "userName" }));
      await refused("invalidSyntax", await patch(path, { op: "copy", path: "title", value: "x" }));
      await refused(
        "tooMany",
        await patch(path, ...Array(scimLimits.operations + 1).fill({ op: "remove", path: "title" })),
      );
      await refused(undefined, await scim.send("GET", "/Users/ffffffffffffffff"), 404);
      await refused(undefined, await scim.send("GET", "/Users/..%2f"), 404);
      await refused(undefined, await scim.send("POST", "/Bulk", {}), 501);
      await refused(undefined, await scim.send("PUT", "/Users", {}), 405);
      await refused(undefined, await scim.send("GET", "/Schemas?filter=x"), 403);
      assert.equal((await scim.send("POST", "/Users", `"${"x".repeat(scimLimits.bodyBytes)}"`)).status, 413);
      assert.deepEqual((await scim.send("GET", path)).body.userName, "errors");
    });

    it("rejects values that cannot become texts", async () => {
      const odd = { toString: 1, valueOf: 1 };
      const { id } = await create("odd");
      await refused("invalidSyntax", await scim.send("POST", "/Users", { schemas: [odd], userName: "x" }));
      await refused(
        "invalidValue",
        await scim.send("POST", "/Users", { schemas: [userSchema], userName: "x", active: odd }),
      );
      await refused("invalidSyntax", await patch(`/Users/${id}`, { op: odd, path: "title", value: "x" }));
      const search = { schemas: ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"], attributes: [odd, "id"] };
      const { status, body } = await scim.send("POST", "/Users/.search", { ...search, filter: 'userName eq "odd"' });
      assert.deepEqual([status, body.Resources], [200, [{ schemas: [userSchema], id }]]);
    });

    it("limits the length of a user, and the comparisons of a PATCH", async () => {
      const { id } = await create("long");
      const value = Array.from({ length: 32 }, (_, i) => ({ value: `${i}`.padEnd(1_100, "x") }));
      const add = (path: string) => patch(`/Users/${id}`, { op: "add", path, value });
      assert.equal((await add("emails")).status, 200);
      await refused("tooMany", await add("phoneNumbers"));
      const filter = Array.from({ length: 50 }, (_, i) => `value co "${i}"`).join(" or ");
      const operation = { op: "replace", path: `emails[value pr or ${filter}].type`, value: "work" };
      await refused("invalidPath", await patch(`/Users/${id}`, operation));
      const allowed = { ...operation, path: operation.path.replace("value pr or ", "") };
      assert.equal((await patch(`/Users/${id}`, ...Array(20).fill(allowed))).status, 200);
      await refused("tooMany", await patch(`/Users/${id}`, ...Array(21).fill(allowed)));
    });

    it("does not let a path or a name reach prototypes", async () => {
      const { id } = await create("prototypes");
      const paths = ["__proto__.polluted", "constructor.prototype.polluted", "name.__proto__", "__proto__"];
      for (const path of paths)
        await patch(
          `/Users/${id}`,
          { op: "add", path, value: { polluted: true } },
          { op: "add", value: { [path]: 1 } },
        );
      await scim.send(
        "PUT",
        `/Users/${id}`,
        `{"schemas":["${userSchema}"],"userName":"p","__proto__":{"polluted":true}}`,
      );
      assert.equal(({} as { polluted?: unknown }).polluted, undefined);
      assert.equal((await scim.send("GET", `/Users/${id}`)).body.polluted, undefined);
    });
  });
}
