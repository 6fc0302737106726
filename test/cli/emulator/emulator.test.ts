// The emulator as the tests of other programs use it: tenants, tokens of issuers, faults, and the clock.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Code, ConnectError } from "@connectrpc/connect";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { IdentitiesService } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { RoleBindingsService } from "../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { exchangedToken, staticToken } from "../../../packages/client/src/node.ts";
import type { Emulator, Tenant } from "../../../packages/client/src/testing.ts";
import { viewerRole } from "../../../src/authz/built-in-roles.ts";
import { hourMs } from "../../../src/base/clock.ts";
import { userUid } from "../../../src/services/iam/users/user-uid.ts";
import { answersOf, signInAs, signInUrl } from "../../harness/browser.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer } from "../../harness/server.ts";
import { startOwnEmulator } from "./emulator-process.ts";

const createGroup = "chainguard.platform.iam.v2beta1.GroupsService/CreateGroup";
const groupsPath = "/iam/v2beta1/groups";

describe("an emulator", () => {
  let emulator: Emulator;
  before(async () => {
    emulator = await startOwnEmulator();
  });
  after(() => emulator?.stop());

  const control = (method: string, path: string, body?: unknown, token: string | undefined = emulator.adminToken) =>
    rest(emulator.url, token, method, path, body);

  const listNames = async ({ client, groupUid }: Tenant) => {
    const { groups } = await client.service(GroupsService).listGroups({ uidp: { descendantsOf: groupUid } });
    return groups.map(({ name }) => name);
  };

  async function bindSomeone({ client, groupUid }: Tenant, issuer: string, subject: string): Promise<string> {
    const { uid } = await client.service(IdentitiesService).createIdentity({
      parent: groupUid,
      identity: {
        name: "workload",
        relationship: {
          case: "claimMatch",
          value: { iss: { case: "issuer", value: issuer }, sub: { case: "subject", value: subject } },
        },
      },
    });
    const roleBinding = { identityUid: uid, roleUid: viewerRole.uid };
    await client.service(RoleBindingsService).createRoleBinding({ parent: groupUid, roleBinding });
    return uid;
  }

  describe("tenants", () => {
    it("are organizations that do not see each other", async () => {
      const [one, other] = [await emulator.tenant({ name: "one" }), await emulator.tenant()];
      await one.client.service(GroupsService).createGroup({ parent: one.groupUid, group: { name: "team" } });
      assert.deepEqual(await listNames(one), ["team"]);
      assert.deepEqual(await listNames(other), []);
      const foreign = other.client.service(GroupsService).getGroup({ uid: one.groupUid });
      await assert.rejects(foreign, (error: ConnectError) => error.code === Code.PermissionDenied);
    });

    it("are made by a request without a body, with a token of the owner and issuers", async () => {
      const { status, body } = await control("POST", "/emulator/v1/tenants");
      assert.equal(status, 200);
      assert.match(body.groupUid, /^[0-9a-f]{40}$/);
      assert.equal(body.issuers.github, `${emulator.url}/emulator/issuers/${body.tenant}/github`);
      const listed = await rest(emulator.url, body.token, "GET", `${groupsPath}/${body.groupUid}`);
      assert.equal(listed.body.name, `tenant-${body.tenant}`);
    });
  });

  describe("issuers", () => {
    const kinds = {
      github: ["repo:example/app:ref:refs/heads/main", { ref: "refs/heads/main" }],
      gitlab: ["project_path:group/app:ref_type:branch:ref:main", { project_path: "group/app" }],
      kubernetes: [
        "system:serviceaccount:ci:builder",
        { "kubernetes.io": { namespace: "ci", serviceaccount: { name: "builder" } } },
      ],
      generic: ["someone", { sub: "someone" }],
    } as const;
    for (const [kind, [subject, claims]] of Object.entries(kinds))
      it(`sign tokens of ${kind} that are exchanged for API tokens`, async () => {
        const tenant = await emulator.tenant();
        const name = kind as keyof typeof kinds;
        const identity = await bindSomeone(tenant, tenant.issuers[name], subject);
        const tokens = exchangedToken({ subject: tenant.issuedToken(name, claims), identity });
        const groups = emulator.openClient({ tokens }).service(GroupsService);
        const { groups: found } = await groups.listGroups({ uidp: { inRoot: true } });
        assert.deepEqual(
          found.map(({ uid }) => uid),
          [tenant.groupUid],
        );
      });

    it("sign any claims, and leave out those that are null", async () => {
      const { issuers } = await emulator.tenant();
      const path = `${new URL(issuers.gitlab).pathname}:token`;
      const { body } = await control("POST", path, {
        claims: { aud: ["a", "b"], nbf: null, extra: 1 },
        lifetime: "60s",
      });
      const claims = JSON.parse(Buffer.from(body.token.split(".")[1], "base64url").toString());
      assert.deepEqual([claims.aud, claims.extra, claims.nbf, claims.exp - claims.iat], [["a", "b"], 1, undefined, 60]);
      assert.equal(claims.iss, issuers.gitlab);
    });

    it("of one tenant sign no token that an identity of another trusts", async () => {
      const [one, other] = [await emulator.tenant(), await emulator.tenant()];
      const identity = await bindSomeone(one, one.issuers.generic, "subject");
      const tokens = exchangedToken({ subject: other.issuedToken("generic"), identity });
      const call = emulator.openClient({ tokens }).service(GroupsService).listGroups({});
      await assert.rejects(call, (error: ConnectError) => error.code === Code.PermissionDenied);
    });

    it("of other machines are not contacted", async () => {
      const tenant = await emulator.tenant();
      const identity = await bindSomeone(tenant, "https://issuer.example.com", "subject");
      const elsewhere = tenant.issuedToken("generic", { iss: "https://issuer.example.com" });
      const tokens = exchangedToken({ subject: elsewhere, identity });
      const call = emulator.openClient({ tokens, retry: false }).service(GroupsService).listGroups({});
      await assert.rejects(call, /issuer/);
    });
  });

  describe("faults", () => {
    const withoutRetries = () => emulator.tenant({ client: { retry: false } });
    const create = ({ client, groupUid }: Tenant, onHeader?: (headers: Headers) => void) =>
      client
        .service(GroupsService)
        .createGroup({ parent: groupUid, group: { name: "team" } }, onHeader && { onHeader });

    it("unavailable_before rejects a call that is not executed", async () => {
      const tenant = await withoutRetries();
      await tenant.addFault({ method: createGroup, effect: "unavailable_before" });
      await assert.rejects(create(tenant), (error: ConnectError) => {
        assert.equal(error.metadata.get("gatehouse-fault"), "unavailable_before");
        return error.code === Code.Unavailable;
      });
      assert.deepEqual(await listNames(tenant), []);
      await create(tenant);
      assert.deepEqual(await listNames(tenant), ["team"]);
    });

    it("unavailable_after rejects a call that was executed", async () => {
      const tenant = await withoutRetries();
      await tenant.addFault({ method: createGroup, effect: "unavailable_after", times: 2 });
      for (const left of [1, 0]) {
        await assert.rejects(create(tenant), (error: ConnectError) => error.code === Code.Unavailable);
        assert.deepEqual(
          (await tenant.faults()).map(({ times }) => times),
          left === 0 ? [] : [left],
        );
      }
      assert.deepEqual(await listNames(tenant), ["team", "team"]);
    });

    for (const protocol of ["grpc", "connect"] as const)
      it(`drop_after cuts the connection of a call by ${protocol} that was executed`, async () => {
        const tenant = await emulator.tenant({ client: { retry: false, protocol } });
        await tenant.addFault({ method: createGroup, effect: "drop_after" });
        await assert.rejects(create(tenant), ConnectError);
        assert.deepEqual(await listNames(tenant), ["team"]);
      });

    it("drop_after cuts the connection of a REST request", async () => {
      const tenant = await withoutRetries();
      await tenant.addFault({ method: createGroup, effect: "drop_after" });
      const token = await tenant.ownerToken.current();
      const path = `${groupsPath}/${tenant.groupUid}`;
      await assert.rejects(rest(emulator.url, token, "POST", path, { name: "team" }), TypeError);
      assert.deepEqual(await listNames(tenant), ["team"]);
    });

    it("delay delays a call, and its response says so", async () => {
      const tenant = await withoutRetries();
      await tenant.addFault({ method: "*", effect: "delay", delayMs: 300 });
      const startedAt = performance.now();
      let effect: string | null = null;
      await create(tenant, (headers) => {
        effect = headers.get("gatehouse-fault");
      });
      assert.ok(performance.now() - startedAt >= 300);
      assert.equal(effect, "delay");
    });

    it("are met by token exchanges and by REST requests, whose responses name them", async () => {
      const tenant = await withoutRetries();
      await tenant.addFault({
        method: "chainguard.platform.oidc.SecurityTokenService/Exchange",
        effect: "unavailable_before",
      });
      const identity = tenant.ownerUid;
      const tokens = exchangedToken({ subject: tenant.issuedToken("generic", { sub: "owner" }), identity });
      const groups = emulator.openClient({ tokens, retry: false }).service(GroupsService);
      await assert.rejects(groups.listGroups({}), (error: ConnectError) => error.code === Code.Unavailable);
      await groups.listGroups({});
      await tenant.addFault({
        method: "chainguard.platform.iam.v2beta1.GroupsService/ListGroups",
        effect: "unavailable_after",
      });
      const token = await tenant.ownerToken.current();
      const { status, headers } = await rest(emulator.url, token, "GET", groupsPath);
      assert.deepEqual([status, headers.get("gatehouse-fault")], [503, "unavailable_after"]);
    });

    it("are met by the calls of a person on resources of the tenant", async () => {
      const tenant = await withoutRetries();
      const roleBinding = {
        identityUid: userUid(`${emulator.issuer}/development/login`, "alice"),
        roleUid: viewerRole.uid,
      };
      await tenant.client.service(RoleBindingsService).createRoleBinding({ parent: tenant.groupUid, roleBinding });
      const { token, error } = answersOf(await signInAs("alice", signInUrl(emulator.url)));
      assert.equal(error, undefined);
      await tenant.addFault({ method: "*", effect: "unavailable_before" });
      const path = `${groupsPath}/${tenant.groupUid}`;
      const { status, headers, body } = await rest(emulator.url, token, "GET", path);
      assert.deepEqual([status, headers.get("gatehouse-fault")], [503, "unavailable_before"], JSON.stringify(body));
      assert.equal((await rest(emulator.url, token, "GET", path)).status, 200);
    });

    it("of one tenant do not meet the calls of another, and can be cleared", async () => {
      const [one, other] = [await withoutRetries(), await withoutRetries()];
      await one.addFault({ method: "*", effect: "unavailable_before", times: 1000 });
      await create(other);
      await one.clearFaults();
      await create(one);
    });

    for (const effect of ["unavailable_before", "unavailable_after", "drop_after"] as const)
      it(`${effect} is hidden by a client that repeats calls with their idempotency key`, async () => {
        const tenant = await emulator.tenant();
        await tenant.addFault({ method: createGroup, effect, times: 2 });
        await create(tenant);
        assert.deepEqual(await tenant.faults(), []);
        assert.deepEqual(await listNames(tenant), ["team"]);
      });

    it("are hidden by a client that repeats calls which read", async () => {
      const tenant = await emulator.tenant();
      await tenant.addFault({
        method: "chainguard.platform.iam.v2beta1.GroupsService/ListGroups",
        effect: "unavailable_before",
      });
      assert.deepEqual(await listNames(tenant), []);
      assert.deepEqual(await tenant.faults(), []);
    });
  });

  describe("the control API", () => {
    const rejected = [
      ["POST", "tenants", { nam: "x" }, 400, /nam: .* did you mean name\?/],
      ["POST", "tenants", { name: "not a name!" }, 400, /name: /],
      ["POST", "tenants", [], 400, /body: must be a JSON object/],
      ["POST", "tenants", "{", 400, /body/],
      ["POST", "tenants/999:token", undefined, 404, /tenant 999/],
      ["POST", "tenants/1/faults", { method: "*" }, 400, /effect: is required: one of delay, unavailable_before/],
      ["POST", "tenants/1/faults", { method: "*", effect: "dely" }, 400, /did you mean delay\?/],
      ["POST", "tenants/1/faults", { effect: "delay" }, 400, /method: is required/],
      [
        "POST",
        "tenants/1/faults",
        { method: "CreateGroup", effect: "delay" },
        400,
        /known are .*iam\.v2beta1\.GroupsService\/CreateGroup/,
      ],
      ["POST", "tenants/1/faults", { method: "*", effect: "delay", times: 0 }, 400, /times: must be a number from 1/],
      ["POST", "tenants/1/faults", { method: "*", effect: "drop_after", delay: "1s" }, 400, /delay: only/],
      ["POST", "tenants/1/faults", { method: "*", effect: "delay", delay: "61s" }, 400, /delay: must be at most 60s/],
      ["POST", "clock", {}, 400, /advance: is required/],
      ["POST", "clock", { advance: "-1s" }, 400, /advance: must be a duration/],
      ["POST", "clock", { advance: 5 }, 400, /advance: must be a duration/],
      ["POST", "clock", { advance: "99999999999s" }, 400, /advance: must be at most/],
      ["PUT", "clock", {}, 405, /./],
      ["GET", "nothing", undefined, 404, /GET \/emulator\/v1\/nothing/],
    ] as const;
    for (const [method, path, body, status, message] of rejected)
      it(`rejects ${method} ${path} with ${JSON.stringify(body)}`, async () => {
        await emulator.tenant();
        const reply = await control(method, `/emulator/v1/${path}`, body);
        assert.equal(reply.status, status);
        assert.match(reply.body.message, message);
      });

    for (const path of ["/emulator/v1/tenants", "/emulator/v1/clock", "/emulator/issuers/1/github:token"])
      it(`rejects ${path} without the admin token`, async () => {
        const owner = await (await emulator.tenant()).ownerToken.current();
        for (const token of [undefined, "x", owner]) {
          const { status, headers } = await rest(emulator.url, token, "POST", path, {});
          assert.deepEqual([status, headers.get("www-authenticate")?.split(" ")[0]], [401, "Bearer"]);
        }
      });

    it("accepts at most 100 faults of a tenant", async () => {
      const tenant = await emulator.tenant();
      for (let i = 0; i < 100; i++) await tenant.addFault({ method: createGroup, effect: "delay" });
      await assert.rejects(tenant.addFault({ method: "*", effect: "delay" }), /at most 100 faults/);
    });
  });

  describe("and other servers", () => {
    it("a production server with the same address rejects its tokens, and has no endpoint of an emulator", async () => {
      const token = await (await emulator.tenant()).ownerToken.current();
      await using server = await startTestServer({ settings: { dev: "false", baseUrl: emulator.issuer } });
      assert.equal((await rest(server.url, token, "GET", groupsPath)).status, 401);
      assert.equal((await rest(server.url, server.ownerToken, "GET", groupsPath)).status, 200);
      for (const path of ["/emulator/v1/tenants", "/emulator/v1/clock", "/emulator/issuers/1/github:token"])
        assert.equal((await rest(server.url, emulator.adminToken, "POST", path, {})).status, 404);
    });
  });

  // Last, because it moves the clock of all tenants.
  describe("whose clock moves 73 hours forward", () => {
    it("restarts lists, rejects access tokens, and lets people and workloads sign in again", async () => {
      const tenant = await emulator.tenant();
      for (const name of ["a", "b", "c"])
        await tenant.client.service(GroupsService).createGroup({ parent: tenant.groupUid, group: { name } });
      const groups = tenant.client.service(GroupsService);
      const request = { uidp: { descendantsOf: tenant.groupUid }, pageSize: 2, orderBy: "name" };
      const page = await groups.listGroups(request);
      const oldToken = await tenant.ownerToken.current();
      const { body: before } = await control("GET", "/emulator/v1/clock");
      await emulator.advance(73 * hourMs);
      const { body: clock } = await control("GET", "/emulator/v1/clock");
      assert.ok(Date.parse(clock.now) - Date.parse(before.now) >= 73 * hourMs);
      assert.ok(Math.abs(emulator.clock() - Date.parse(clock.now)) < 10_000);
      // The client follows the clock of the emulator: it does not send a token that has expired there.
      assert.notEqual(await tenant.ownerToken.current(), oldToken);
      const old = emulator.openClient({ tokens: staticToken(oldToken) }).service(GroupsService);
      await assert.rejects(old.listGroups({}), (error: ConnectError) => error.code === Code.Unauthenticated);
      const again = await groups.listGroups({ ...request, pageToken: page.nextPageToken });
      assert.deepEqual(
        again.groups.map(({ name }) => name),
        ["a", "b"],
      );
      const tokens = exchangedToken({
        subject: tenant.issuedToken("generic", { sub: "owner" }),
        identity: tenant.ownerUid,
      });
      const { groups: seen } = await emulator.openClient({ tokens }).service(GroupsService).listGroups(request);
      assert.equal(seen.length, 2);
      const { token, error } = answersOf(await signInAs("bob", signInUrl(emulator.url)));
      assert.equal(error, undefined);
      // Signed in, without a role.
      assert.equal((await rest(emulator.url, token, "GET", groupsPath)).status, 403);
    });
  });
});
