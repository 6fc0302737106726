// I: what the matrix cannot produce.
import assert from "node:assert/strict";
import { connect } from "node:http2";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { SecurityTokenService } from "../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { Access } from "../../src/authz/access.ts";
import { capabilitySet } from "../../src/model/capabilities.ts";
import { isWithin } from "../../src/model/uid.ts";
import { type ComposeOptions, composeMethods } from "../../src/pipeline/compose.ts";
import { implement } from "../../src/pipeline/handlers.ts";
import { exemptMethods } from "../../src/server/services.ts";
import { findRow, insertRow } from "../../src/storage/collection/rows.ts";
import { groupCollection } from "../../src/storage/iam/collections.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { codeOf, type Ground, openGround, replyOf } from "./ground.ts";
import { addCaller, addGroup, addIdentity, addRole, arrange, bind, ownerRole, viewerRole } from "./tree.ts";

after(stopPostgres);

for (const database of databases) {
  describe(`tenancy on ${database}`, () => {
    let ground: Ground;
    let own: string;
    let child: string;
    let hidden: string;
    let owner: { readonly uid: string; readonly token: string };
    before(async () => {
      ground = await openGround({ database });
      own = await addGroup(ground.server, null, "own");
      child = await addGroup(ground.server, own, "child");
      hidden = await addGroup(ground.server, null, "hidden");
      owner = await addCaller(ground.server, own, ownerRole.uid);
    });
    after(() => ground[Symbol.asyncDispose]());

    it("I1: over REST the refusal of another tenant's uid is the same to the byte, there or not", async () => {
      const absent = "f".repeat(40);
      const reply = async (uid: string) => {
        const { status, headers, body } = await rest(
          ground.server.url,
          owner.token,
          "GET",
          `/iam/v2beta1/groups/${uid}`,
        );
        const { date: _date, "x-request-id": _id, ...stable } = Object.fromEntries(headers);
        return { status, stable, body: JSON.stringify(body).replaceAll(uid, "<uid>") };
      };
      const [there, missing] = [await reply(hidden), await reply(absent)];
      assert.equal(there.status, 403);
      assert.deepEqual(there, missing);
    });

    it("I2: a uid cut short is INVALID_ARGUMENT in a filter", async () => {
      for (const cut of [1, 8, 16]) {
        const filter = { uidp: { descendantsOf: child.slice(0, -cut) } };
        assert.equal(
          codeOf(await ground.everywhere(owner.token, "GroupsService/ListGroups", filter)),
          "INVALID_ARGUMENT",
        );
      }
    });

    it("I2: a stored uid with another uid as its prefix, without a slash, is not a descendant", async () => {
      const longer = `${child}0`;
      await arrange(ground.server, async (tx) => {
        const row = (await findRow(tx, groupCollection, child))!;
        await insertRow(tx, groupCollection, { ...row, uid: longer });
      });
      const { token } = await addCaller(ground.server, child, viewerRole.uid);
      const seen = replyOf(await ground.everywhere(token, "GroupsService/ListGroups", {}));
      assert.deepEqual(
        (seen.groups as JsonObject[]).map(({ uid }) => uid),
        [child],
      );
      const below = { uidp: { descendantsOf: child } };
      assert.equal(replyOf(await ground.everywhere(owner.token, "GroupsService/ListGroups", below)).totalCount, "0");
    });

    const malformed: Readonly<Record<string, (uid: string) => string>> = {
      "a slash": () => "/",
      "two slashes": () => "//",
      "a slash behind": (uid) => `${uid}/`,
      "a slash in front": (uid) => `/${uid}`,
      "an empty segment": (uid) => uid.replace("/", "//"),
      "a dot segment": (uid) => uid.replace("/", "/../"),
      "a root of 39 characters": (uid) => uid.slice(1),
      "a root of 41 characters": (uid) => `0${uid}`,
      "an upper-case letter": (uid) => `A${uid.slice(1)}`,
      "a line break behind": (uid) => `${uid}\n`,
    };
    for (const [rule, change] of Object.entries(malformed)) {
      it(`I3: ${rule} is INVALID_ARGUMENT, by id and in filters`, async () => {
        const uid = change(child);
        for (const apiClient of ground.apiClients) {
          const got = await apiClient.call(owner.token, path("GroupsService/GetGroup"), { uid });
          // A path that names nothing leads to no method at all.
          const expected = apiClient.name === "rest" ? /^(INVALID_ARGUMENT|NOT_FOUND)$/ : /^INVALID_ARGUMENT$/;
          assert.match(codeOf(got), expected, apiClient.name);
        }
        for (const filter of ["descendantsOf", "childrenOf", "ancestorsOf"]) {
          const outcome = await ground.everywhere(owner.token, "GroupsService/ListGroups", { uidp: { [filter]: uid } });
          assert.equal(codeOf(outcome), "INVALID_ARGUMENT", filter);
        }
      });
    }

    it("I3: an empty uid is INVALID_ARGUMENT, but for the parent of a new root group", async () => {
      for (const apiClient of ground.apiClients.filter(({ name }) => name !== "rest")) {
        assert.equal(
          codeOf(await apiClient.call(owner.token, path("GroupsService/GetGroup"), { uid: "" })),
          "INVALID_ARGUMENT",
        );
      }
      const created = await ground.everywhere(owner.token, "GroupsService/CreateGroup", {
        parent: "",
        group: { name: "root" },
      });
      assert.equal(codeOf(created), "OK");
    });

    it("I4: a binding at a child reaches neither parent nor sibling, and one at a parent reaches the child", async () => {
      const sibling = await addGroup(ground.server, own);
      const { token } = await addCaller(ground.server, child, viewerRole.uid);
      const ask = async (asked: string, uid: string) =>
        codeOf(await ground.everywhere(asked, "GroupsService/GetGroup", { uid }));
      assert.deepEqual(
        [await ask(token, child), await ask(token, own), await ask(token, sibling), await ask(owner.token, child)],
        ["OK", "PERMISSION_DENIED", "PERMISSION_DENIED", "OK"],
      );
    });

    it("I5, P5: foreign rows are absent from a list and from its total", async () => {
      const mine = { uidp: { ids: [own, hidden, child, "f".repeat(40)] } };
      const list = replyOf(await ground.everywhere(owner.token, "GroupsService/ListGroups", mine));
      assert.deepEqual((list.groups as JsonObject[]).map(({ uid }) => uid).sort(), [own, child].sort());
      assert.equal(list.totalCount, "2");
      const named = { name: "hidden" };
      assert.equal(replyOf(await ground.everywhere(owner.token, "GroupsService/ListGroups", named)).totalCount, "0");
    });

    it("I5: a filter that names a foreign identity, group or role finds nothing", async () => {
      const foreign = await addCaller(ground.server, hidden, await addRole(ground.server, hidden, []));
      for (const filter of [{ identity: foreign.uid }, { group: hidden }, { uidp: { ids: [foreign.binding] } }]) {
        const list = replyOf(await ground.everywhere(owner.token, "RoleBindingsService/ListRoleBindings", filter));
        assert.deepEqual([list.roleBindings ?? [], list.totalCount], [[], "0"]);
      }
    });

    it("I6: an identity of an organization that the caller cannot read is shown by uid only", async () => {
      const stranger = await addIdentity(ground.server, hidden, { name: "stranger", description: "secret" });
      const colleague = await addIdentity(ground.server, own, { name: "colleague" });
      const shown = async (identityUid: string) => {
        const uid = await bind(ground.server, child, identityUid, viewerRole.uid);
        const binding = replyOf(await ground.everywhere(owner.token, "RoleBindingsService/GetRoleBinding", { uid }));
        return binding.identity as JsonObject;
      };
      assert.deepEqual(await shown(stranger), { uid: stranger });
      assert.equal((await shown(colleague)).name, "colleague");
    });

    it("I7: the contents of a hidden group do not change the denial", async () => {
      const empty = await addGroup(ground.server, null, "empty");
      await addGroup(ground.server, hidden, "taken");
      const refusals = async (method: string, request: (uid: string) => JsonObject) => {
        const messages = [];
        for (const uid of [hidden, empty, "f".repeat(40)]) {
          const outcome = await ground.everywhere(owner.token, method, request(uid));
          assert.equal(codeOf(outcome), "PERMISSION_DENIED");
          messages.push(JSON.stringify(outcome).replaceAll(uid, ""));
        }
        assert.equal(new Set(messages).size, 1, method);
      };
      await refusals("GroupsService/CreateGroup", (parent) => ({ parent, group: { name: "taken" } }));
      await refusals("GroupsService/DeleteGroup", (uid) => ({ uid }));
    });

    it("I7: LookupIdentity responds alike for registered and unknown users; LookupGroup finds nothing for an unverified address", async () => {
      const asked = { issuer: "https://issuer.example.org", subject: "owner" };
      const found = await ground.everywhere(owner.token, "IdentitiesService/LookupIdentity", asked);
      const other = await ground.everywhere(owner.token, "IdentitiesService/LookupIdentity", {
        ...asked,
        subject: "nobody",
      });
      assert.deepEqual([codeOf(found), codeOf(other)], ["OK", "OK"]);
      assert.equal(codeOf(await ground.everywhere(owner.token, "GroupsService/LookupGroup", {})), "NOT_FOUND");
    });

    it("I8: a batch of one has the result of the single call, for every caller", async () => {
      const roles = [
        viewerRole.uid,
        ownerRole.uid,
        await addRole(ground.server, own, [Capability.CAP_IAM_GROUPS_LIST]),
      ];
      const held = [
        viewerRole.uid,
        ownerRole.uid,
        await addRole(ground.server, own, [Capability.CAP_IAM_ROLE_BINDINGS_CREATE, Capability.CAP_IAM_GROUPS_LIST]),
      ];
      for (const callerRole of held) {
        const { token } = await addCaller(ground.server, own, callerRole);
        for (const roleUid of roles) {
          for (const parent of [own, child, hidden]) {
            const item = async () => ({ identityUid: await addIdentity(ground.server, own), roleUid });
            const single = { parent, roleBinding: await item() };
            const batch = { parent, requests: [{ roleBinding: await item() }] };
            const alone = await ground.once(token, "RoleBindingsService/CreateRoleBinding", single);
            const together = await ground.once(token, "RoleBindingsService/BatchCreateRoleBindings", batch);
            assert.deepEqual([codeOf(together), together.message], [codeOf(alone), alone.message]);
          }
        }
      }
    });

    const strayPaths = [
      "chainguard.platform.iam.v2beta1.GroupsService/GetGroup",
      "/chainguard.platform.iam.v2beta1.groupsservice/GetGroup",
      "/chainguard.platform.iam.v2beta1.GroupsService//GetGroup",
      "//chainguard.platform.iam.v2beta1.GroupsService/GetGroup",
      "/chainguard.platform.iam.v2beta1.GroupsService/GetGroup/",
      "/chainguard.platform.iam.v2beta1.GroupsService/Unknown",
    ];
    for (const stray of strayPaths) {
      it(`I10: the gRPC path ${stray} reaches no method`, async () => {
        const { status, grpcStatus } = await grpcStatusOf(ground.server.url, stray, owner.token);
        assert.ok(grpcStatus === "12" || status >= 400, `${status} ${grpcStatus}`);
      });
    }
  });
}

describe("the order of uids", () => {
  it("I2: an ancestor is a prefix that ends where a slash follows", () => {
    const [parent, child] = ["a".repeat(40), `${"a".repeat(40)}/${"b".repeat(16)}`];
    assert.deepEqual(
      [isWithin(child, parent), isWithin(parent, parent), isWithin(`${parent}0`, parent)],
      [true, true, false],
    );
    const access = new Access(new Map([[`${child}0`, capabilitySet([Capability.CAP_IAM_GROUPS_LIST])]]), {
      scopes: [child],
    });
    assert.deepEqual(access.scope([Capability.CAP_IAM_GROUPS_LIST]), []);
  });
});

describe("a method without an access rule", () => {
  it("I9: stops the start, unless it is exempt by name", () => {
    const unguarded = implement(SecurityTokenService, { exchange: () => ({}), exchangeRefreshToken: () => ({}) });
    const compose = (exempt: ReadonlySet<string>) =>
      composeMethods([unguarded], { ...({} as ComposeOptions), exempt, domain: "test" });
    assert.throws(() => compose(new Set()), /SecurityTokenService\/Exchange has no access rule/);
    assert.equal(compose(exemptMethods).size, 2);
  });

  it("I9: only methods with another credential than an API token are exempt", () => {
    const prefix = "/chainguard.platform.";
    const own = ["oidc.SecurityTokenService/Exchange", "oidc.SecurityTokenService/ExchangeRefreshToken"];
    const names = [...own, "auth.Auth/GetHeadlessSession"].map((name) => prefix + name);
    assert.deepEqual(exemptMethods, new Set(names));
  });
});

function path(name: string): string {
  return `/chainguard.platform.iam.v2beta1.${name}`;
}

/** Returns the gRPC status of a request with exactly this path. */
async function grpcStatusOf(url: string, path: string, token: string) {
  const session = connect(url);
  session.on("error", () => {});
  const headers = { "content-type": "application/grpc", te: "trailers", authorization: `Bearer ${token}` };
  const stream = session.request({ ":method": "POST", ":path": path, ...headers });
  stream.end(Buffer.alloc(5));
  const result = { status: 400, grpcStatus: "" };
  return await new Promise<typeof result>((resolve) => {
    const note = (seen: Record<string, unknown>) => {
      result.status = Number(seen[":status"] ?? result.status);
      result.grpcStatus = String(seen["grpc-status"] ?? result.grpcStatus);
    };
    stream
      .on("response", note)
      .on("trailers", note)
      .on("error", () => {});
    stream.resume().on("close", () => {
      session.destroy();
      resolve(result);
    });
  });
}
