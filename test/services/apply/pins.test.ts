// Pins of identities in the resources of an apply.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { Code } from "../../../src/aip/errors.ts";
import { noTrust, type PinnedName } from "../../../src/model/trust.ts";
import { storeTrust } from "../../../src/services/iam/identities/stored-trust.ts";
import { lastChange, readChanges } from "../../../src/storage/change-log/change-log.ts";
import { findRow } from "../../../src/storage/collection/rows.ts";
import { identityCollection } from "../../../src/storage/iam/collections.ts";
import { type ApiClient, openApiClient } from "../../harness/api-clients.ts";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { addCaller, addGroup, addRole, ownerRole } from "../../security/tree.ts";

after(stopPostgres);

const apply = "/gatehouse.apply.v1.ApplyService/ApplyResources";
const read = "/gatehouse.apply.v1.ApplyService/ExportResources";
const getTrust = "/gatehouse.iam.v1.WorkloadTrustService/GetTrust";

const github = { issuer: "https://token.actions.githubusercontent.com", subject: "repo:acme/app:ref:refs/heads/main" };
const owner = { kind: "owner", name: "acme", id: "12" };
const repository = { kind: "repository", name: "acme/app", id: "74" };
const explicit = "NAME_POLICY_EXPLICIT";

/** Returns the resources with one identity. */
function ci(pins?: JsonObject, changes: JsonObject = { claimMatch: github }): JsonObject[] {
  return [{ identity: { name: "ci", ...(pins && { pins }), ...changes } }];
}

for (const database of databases) {
  describe(`pins in applied resources on ${database}`, () => {
    let server: TestServer;
    let client: ApiClient;
    before(async () => {
      server = await startTestServer({ database });
      client = openApiClient("grpc", server.url);
    });
    after(async () => {
      client[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    });

    async function call(method: string, request: JsonObject, token = server.ownerToken) {
      const found = await client.call(token, method, request);
      assert.ok("response" in found, JSON.stringify(found));
      return found.response as JsonObject;
    }

    const position = () => lastChange(server.server.database.session);

    async function newRoot() {
      const root = await addGroup(server, null);
      return { root, ...(await addCaller(server, root, ownerRole.uid)) };
    }

    /** Applies, and returns the changed fields with their values. */
    async function applied(token: string, root: string, resources: JsonObject[], more: JsonObject = {}) {
      const { changes = [] } = await call(apply, { groupUid: root, resources, ...more }, token);
      return (changes as JsonObject[]).map(({ action, uid = "", fields = [] }) => ({
        action: String(action).replace("PLANNED_ACTION_", ""),
        uid: String(uid),
        fields: fields as JsonObject[],
      }));
    }

    async function uidOfCi(token: string, root: string): Promise<string> {
      const { identities } = await call(
        "/chainguard.platform.iam.v2beta1.IdentitiesService/ListIdentities",
        { name: "ci", uidp: { descendantsOf: root } },
        token,
      );
      return String((identities as JsonObject[])[0]!.uid);
    }

    /** Returns the policy, and the pins with their sources. */
    async function trustOf(token: string, root: string) {
      const { namePolicy = "", pinnedNames = [] } = await call(
        getTrust,
        { identity: await uidOfCi(token, root) },
        token,
      );
      const pins = (pinnedNames as JsonObject[]).map(({ kind, id, source }) => `${kind} ${id} ${source}`);
      return { policy: namePolicy, pins: pins.map((pin) => pin.replace("PIN_SOURCE_", "")) };
    }

    /** Pins a name as an exchange does. */
    async function learn(uid: string, ...added: readonly JsonObject[]): Promise<void> {
      const context = { actor: uid, method: "LearnName", requestId: "", time: server.clock() };
      await server.server.database.write(context, async (tx) => {
        const row = (await findRow(tx, identityCollection, uid))!;
        const pins = added.map((pin) => ({ ...pin, source: "first-use", time: server.clock() }) as PinnedName);
        await storeTrust(tx, row, { ...noTrust, ...row.trust, pins: [...(row.trust?.pins ?? []), ...pins] });
      });
    }

    it("creates an identity with pins, by two methods in the audit log, and exports them", async () => {
      const { root, token } = await newRoot();
      const start = await position();
      const pins = { policy: explicit, names: [owner, repository] };
      assert.deepEqual(
        (await applied(token, root, ci(pins))).map(({ action }) => action),
        ["CREATE"],
      );
      const changes = await readChanges(server.server.database.session, start, 10);
      assert.deepEqual(
        changes.map(({ kind, method }) => [kind, method.split("/").at(-1)]),
        [
          ["identities", "CreateIdentity"],
          ["identity_trust", "UpdateTrust"],
        ],
      );
      assert.deepEqual(await trustOf(token, root), {
        policy: explicit,
        pins: ["owner 12 EXPLICIT", "repository 74 EXPLICIT"],
      });
      const { resources } = await call(read, { groupUid: root, kinds: ["SPEC_KIND_IDENTITY"] }, token);
      assert.deepEqual((resources as JsonObject[]).map(({ identity }) => (identity as JsonObject).pins)[0], pins);
      const end = await position();
      assert.deepEqual(await applied(token, root, resources as JsonObject[]), []);
      assert.deepEqual(await applied(token, root, ci({ policy: explicit, names: [repository, owner] })), []);
      assert.equal(await position(), end, "an apply of the same pins in another order wrote something");
    });

    it("leaves pins and policy alone without the key", async () => {
      const { root, token } = await newRoot();
      await applied(token, root, ci({ policy: explicit, names: [owner] }));
      const uid = await uidOfCi(token, root);
      await learn(uid, repository);
      assert.deepEqual(await applied(token, root, ci()), []);
      await applied(token, root, ci(undefined, { claimMatch: github, description: "Builds" }));
      assert.deepEqual(await trustOf(token, root), {
        policy: explicit,
        pins: ["owner 12 EXPLICIT", "repository 74 FIRST_USE"],
      });
    });

    it("makes the pins exactly those of the file, which the plan shows; known ones keep their source", async () => {
      const { root, token } = await newRoot();
      await applied(token, root, ci());
      const uid = await uidOfCi(token, root);
      await learn(uid, owner, { ...repository, name: "acme/old", id: "7" });
      const wanted = ci({ names: [owner, repository] });
      const [planned, ...others] = await applied(token, root, wanted, { planOnly: true });
      assert.equal(others.length, 0);
      assert.equal(planned?.action, "UPDATE");
      assert.deepEqual(planned?.fields, [
        {
          field: "pins",
          oldValue: JSON.stringify({ names: [owner, { ...repository, name: "acme/old", id: "7" }] }),
          newValue: JSON.stringify({ names: [owner, repository] }),
        },
      ]);
      const start = await position();
      await applied(token, root, wanted);
      const changes = await readChanges(server.server.database.session, start, 10);
      assert.deepEqual(
        changes.map(({ kind }) => kind),
        ["identity_trust"],
        "the identity itself is as it was",
      );
      assert.deepEqual((await trustOf(token, root)).pins, ["owner 12 FIRST_USE", "repository 74 EXPLICIT"]);
      await applied(token, root, ci({}));
      assert.deepEqual(await trustOf(token, root), { policy: "", pins: [] });
    });

    it("has the pins of the file after a change of the issuer, and none without the key", async () => {
      const gitlab = { issuer: "https://gitlab.com", subject: "project_path:acme/app:ref_type:branch:ref:main" };
      const { root, token } = await newRoot();
      await applied(token, root, ci({ names: [owner] }));
      await applied(token, root, ci({ names: [owner] }, { claimMatch: gitlab }));
      assert.deepEqual((await trustOf(token, root)).pins, ["owner 12 EXPLICIT"]);
      await applied(token, root, ci());
      assert.deepEqual((await trustOf(token, root)).pins, []);
    });

    it("rejects pins that UpdateTrust would reject, and names the place", async () => {
      const { root, token } = await newRoot();
      const rejected = async (pins: JsonObject, changes?: JsonObject) => {
        const found = await client.call(token, apply, { groupUid: root, resources: ci(pins, changes), planOnly: true });
        return [found.code, JSON.stringify(found)] as const;
      };
      const [code, message] = await rejected({ names: [owner, { kind: "planet", name: "", id: "1" }] });
      assert.equal(code, Code.INVALID_ARGUMENT);
      assert.match(message, /resources\[0\]\.identity\.pins\.names\[1\]\.kind: must be one of /);
      assert.match(message, /"resources\[0\]\.identity\.pins\.names\[1\]\.name"/);
      const [, twice] = await rejected({ names: [owner, { ...owner, id: "13" }] });
      assert.match(twice, /pins\.names\[1\]\.name: is pinned twice/);
      const principal = { servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" };
      const [, nameless] = await rejected({ names: [owner] }, principal);
      assert.match(nameless, /identity\.pins: only identities with a claim match or of AWS have pins/);
      const names = Array.from({ length: 33 }, (_, i) => ({ kind: "owner", name: `acme-${i}`, id: String(i) }));
      const many = await client.call(token, apply, { groupUid: root, resources: ci({ names }) });
      assert.equal(many.code, Code.FAILED_PRECONDITION);
      assert.match(many.message, /at most 32 pinned names of a kind.*resources\[0\]: identity "ci"/);
    });

    it("changes pins only for callers who may update the identity and hold its roles", async () => {
      const { root, token } = await newRoot();
      const { CAP_IAM_GROUPS_LIST, CAP_IAM_IDENTITY_LIST, CAP_IAM_IDENTITY_CREATE, CAP_IAM_IDENTITY_UPDATE } =
        Capability;
      const lists = [CAP_IAM_GROUPS_LIST, CAP_IAM_IDENTITY_LIST];
      const callerWith = async (...more: Capability[]) =>
        (await addCaller(server, root, await addRole(server, root, [...lists, ...more]))).token;
      const creator = await callerWith(CAP_IAM_IDENTITY_CREATE);
      const attempt = async (by: string, resources: JsonObject[]) =>
        (await client.call(by, apply, { groupUid: root, resources })).code;
      assert.equal(await attempt(creator, ci({ names: [owner] })), Code.PERMISSION_DENIED);
      assert.equal(await attempt(creator, ci()), Code.OK);
      const updater = await callerWith(CAP_IAM_IDENTITY_UPDATE);
      assert.equal(await attempt(updater, ci({ names: [owner] })), Code.OK);
      await applied(token, root, [{ roleBinding: { identity: "ci", role: "owner" } }]);
      assert.equal(await attempt(updater, ci({ names: [repository] })), Code.PERMISSION_DENIED);
      assert.equal(
        await attempt(updater, ci({ names: [owner] }, { claimMatch: github, description: "Builds" })),
        Code.OK,
      );
      assert.deepEqual((await trustOf(token, root)).pins, ["owner 12 EXPLICIT"]);
    });
  });
}
