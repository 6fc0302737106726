// Specification, "List endpoints", rule 1: every list has the same ordering parameters.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Code } from "../../../gen/google/rpc/code_pb.ts";
import { compareTexts } from "../../../src/base/compare-texts.ts";
import { type ApiClient, openApiClient, services } from "../../harness/api-clients.ts";
import { databases } from "../../harness/databases.ts";
import { type DatabaseKind, startTestServer, type TestServer } from "../../harness/server.ts";

const orders = ["uid", "name", "created_at", "create_time", "createTime", "updated_at", "update_time", "updateTime"];

/** The published lists, of v1 and v2beta1. */
const lists = services
  .filter(({ typeName }) => typeName.startsWith("chainguard."))
  .flatMap(({ methods }) => methods.filter(({ name }) => /^List(?!Accepted)/.test(name)));
const paged = lists.filter(({ input }) =>
  input.fields.some(({ name, fieldKind }) => name === "order_by" && fieldKind === "scalar"),
);
/** Those of version 1 that need no further fields. They return all items in the order of their uids. */
const unpaged = lists.filter((method) => !paged.includes(method) && /^List(Repos|Tags)?$/.test(method.name));

for (const database of databases) describe(`orders of lists (${database})`, () => orderTests(database));

function orderTests(database: DatabaseKind): void {
  let server: TestServer;
  let client: ApiClient;
  /** The names of roles by uid. */
  const names = new Map<string, string>();
  let provider: string;
  before(async () => {
    server = await startTestServer({ database });
    client = openApiClient("grpc", server.url);
    await fill();
  });
  after(async () => {
    client[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });

  async function call(path: string, request: JsonObject): Promise<JsonObject> {
    const { code, response, message } = await client.call(server.ownerToken, path, request);
    assert.equal(code, Code.OK, `${path}: ${message}`);
    return response as JsonObject;
  }
  const iam = (method: string, request: JsonObject) => call(`/chainguard.platform.iam.v2beta1.${method}`, request);

  async function fill(): Promise<void> {
    const root = server.groupUid;
    const { uid: group } = (await iam("GroupsService/CreateGroup", { parent: root, group: { name: "team" } })) as {
      uid: string;
    };
    for (const [name, parent] of [
      ["zz", root],
      ["same", root],
      ["same", group],
      ["aa", group],
      ["gone", root],
    ] as const) {
      const role = { name, capabilities: ["CAP_IAM_GROUPS_LIST"] };
      names.set((await iam("RolesService/CreateRole", { parent, role })).uid as string, name);
    }
    const { roles } = (await iam("RolesService/ListRoles", { uidp: { inRoot: true } })) as {
      roles: { uid: string; name: string }[];
    };
    for (const { uid, name } of roles) names.set(uid, name);
    const viewer = roles.find(({ name }) => name === "viewer")!.uid;
    const identityProvider = {
      name: "login",
      defaultRole: viewer,
      oidc: { issuer: "https://login.example.org", clientId: "id", clientSecret: "secret", additionalScopes: [] },
    };
    provider = (await iam("IdentityProvidersService/CreateIdentityProvider", { parent: root, identityProvider }))
      .uid as string;
    const own = [...names].filter(([uid]) => uid.includes("/"));
    for (const [i, [roleUid, name]] of [...own, [viewer, "viewer"] as const].entries()) {
      const parent = roleUid.startsWith(`${group}/`) ? group : root;
      for (const n of [0, 1]) {
        await iam("GroupInvitesService/CreateGroupInvite", { parent, groupInvite: { roleUid, ttl: `${i + 60}s` } });
        if (name === "gone") continue;
        const claimMatch = { issuer: "https://issuer.example.org", subject: `${i}-${n}` };
        const identity = { name: `i${i}-${n}`, claimMatch };
        const { uid: identityUid } = (await iam("IdentitiesService/CreateIdentity", { parent: root, identity })) as {
          uid: string;
        };
        await iam("RoleBindingsService/CreateRoleBinding", { parent, roleBinding: { identityUid, roleUid } });
      }
      // A mapping counts in the whole organization, where a role of a subgroup cannot be used.
      if (name === "gone" || parent !== root) continue;
      for (const n of [0, 1]) {
        const externalGroupRoleMapping = { externalGroupId: `g${i}-${n}`, roleUid, scope: root };
        await iam("ExternalGroupRoleMappingsService/CreateExternalGroupRoleMapping", {
          parent: provider,
          externalGroupRoleMapping,
        });
      }
    }
    const gone = own.find(([, name]) => name === "gone")![0];
    await iam("RolesService/DeleteRole", { uid: gone });
    // An invite outlives its role, which then has no name.
    names.set(gone, "");
    for (const sink of ["https://b.example.org/", "https://a.example.org/"])
      await call("/chainguard.platform.events.v2beta1.SubscriptionsService/CreateSubscription", {
        parent: root,
        subscription: { sink },
      });
  }

  for (const { name, parent, input } of paged)
    it(`${parent.typeName}/${name} accepts every order in both directions, and each spelling of the times`, async () => {
      const group = input.fields.some((field) => field.name === "group" && parent.name === "TermsService");
      for (const order of orders)
        for (const direction of ["", " asc", " desc"])
          await call(`/${parent.typeName}/${name}`, {
            orderBy: order + direction,
            ...(group && { group: server.groupUid }),
          });
    });

  it("a list rejects an order by another field, and names those that it has", async () => {
    const path = "/chainguard.platform.iam.v2beta1.RoleBindingsService/ListRoleBindings";
    const { code, message } = await client.call(server.ownerToken, path, { orderBy: "colour" });
    assert.equal(code, Code.INVALID_ARGUMENT);
    assert.match(message, /order_by: must be one of .*name/);
  });

  for (const { name, parent } of unpaged)
    it(`${parent.typeName}/${name}, which has no order, returns its items`, async () => {
      await call(`/${parent.typeName}/${name}`, {});
    });

  /** Reads a list page by page. */
  async function read(method: string, plural: string, request: JsonObject, pageSize: number): Promise<JsonObject[]> {
    const items: JsonObject[] = [];
    let pageToken = "";
    do {
      const page = await iam(method, { ...request, pageSize, pageToken });
      items.push(...((page[plural] ?? []) as JsonObject[]));
      pageToken = (page.nextPageToken ?? "") as string;
    } while (pageToken !== "");
    return items;
  }

  const named = [
    {
      method: "RoleBindingsService/ListRoleBindings",
      plural: "roleBindings",
      roleOf: ({ role }: JsonObject) => (role as JsonObject).uid,
    },
    {
      method: "GroupInvitesService/ListGroupInvites",
      plural: "groupInvites",
      roleOf: ({ roleUid }: JsonObject) => roleUid,
    },
    {
      method: "ExternalGroupRoleMappingsService/ListExternalGroupRoleMappings",
      plural: "externalGroupRoleMappings",
      roleOf: ({ roleUid }: JsonObject) => roleUid,
    },
  ];
  for (const { method, plural, roleOf } of named) {
    /** Returns the place of an item: by the name of its role, then by the uid of the role, then by its own. */
    const placeOf = (item: JsonObject) => [names.get(roleOf(item) as string)!, roleOf(item), item.uid].join("\0");
    const sorted = (items: readonly JsonObject[]) => items.map(placeOf).sort(compareTexts);

    it(`${method} by name has the order of the names of roles, over pages of any size`, async () => {
      const all = sorted(await read(method, plural, {}, 200));
      assert.ok(all.length >= 5, String(all.length));
      for (const size of [1, 2, 3, 200]) {
        assert.deepEqual((await read(method, plural, { orderBy: "name" }, size)).map(placeOf), all);
        assert.deepEqual((await read(method, plural, { orderBy: "name desc" }, size)).map(placeOf), all.toReversed());
      }
    });

    it(`${method} by name skips any number of items, also after a page token`, async () => {
      const all = sorted(await read(method, plural, {}, 200));
      for (let skip = 0; skip <= all.length; skip++) {
        const page = await iam(method, { orderBy: "name", skip, pageSize: 200 });
        assert.deepEqual(((page[plural] ?? []) as JsonObject[]).map(placeOf), all.slice(skip));
        assert.equal(Number(page.totalCount), all.length);
      }
      const { nextPageToken } = await iam(method, { orderBy: "name", pageSize: 1 });
      const second = await iam(method, { orderBy: "name", pageSize: 200, pageToken: nextPageToken!, skip: 2 });
      assert.deepEqual((second[plural] as JsonObject[]).map(placeOf), all.slice(3));
    });

    it(`${method} by name shows the items of any place`, async () => {
      for (const place of ["descendantsOf", "childrenOf"]) {
        const uid = method.startsWith("External") && place === "childrenOf" ? provider : server.groupUid;
        const request = { uidp: { [place]: uid } };
        const all = sorted(await read(method, plural, request, 200));
        assert.deepEqual((await read(method, plural, { ...request, orderBy: "name" }, 2)).map(placeOf), all);
      }
      const some = (await read(method, plural, {}, 200)).slice(0, 3);
      const ids = { uidp: { ids: some.map(({ uid }) => uid as string) }, orderBy: "name" };
      assert.deepEqual((await read(method, plural, ids, 2)).map(placeOf), sorted(some));
    });
  }

  it("role bindings by name together with a filter", async () => {
    const all = await read("RoleBindingsService/ListRoleBindings", "roleBindings", {}, 200);
    const one = all.at(-1)!;
    for (const filter of [
      { identity: (one.identity as JsonObject).uid! },
      { role: (one.role as JsonObject).uid! },
      { group: (one.group as JsonObject).uid! },
    ]) {
      const expected = await read("RoleBindingsService/ListRoleBindings", "roleBindings", filter, 200);
      const found = await read(
        "RoleBindingsService/ListRoleBindings",
        "roleBindings",
        { ...filter, orderBy: "name" },
        1,
      );
      assert.deepEqual(new Set(found.map(({ uid }) => uid)), new Set(expected.map(({ uid }) => uid)));
    }
  });

  it("role bindings by name follow a role that is renamed", async () => {
    const [uid] = [...names].find(([, name]) => name === "aa")!;
    await iam("RolesService/UpdateRole", { role: { uid, name: "zzz" }, updateMask: "name" });
    const found = await read("RoleBindingsService/ListRoleBindings", "roleBindings", { orderBy: "name" }, 200);
    assert.equal((found.at(-1)!.role as JsonObject).uid, uid);
    await iam("RolesService/UpdateRole", { role: { uid, name: "aa" }, updateMask: "name" });
  });

  it("subscriptions by name have the order of their sinks", async () => {
    const path = "/chainguard.platform.events.v2beta1.SubscriptionsService/ListSubscriptions";
    const { subscriptions } = (await call(path, { orderBy: "name desc" })) as { subscriptions: { sink: string }[] };
    assert.deepEqual(
      subscriptions.map(({ sink }) => sink),
      ["https://b.example.org/", "https://a.example.org/"],
    );
  });
}
