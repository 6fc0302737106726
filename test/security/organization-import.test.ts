// R, I: what attackers gain if an operator imports a file of theirs, or if they call the import themselves.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { Code } from "../../src/aip/errors.ts";
import { capabilitySet } from "../../src/model/capabilities.ts";
import { register } from "../../src/services/auth/registration.ts";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { insertRow } from "../../src/storage/collection/rows.ts";
import { externalGroupRoleMappingCollection } from "../../src/storage/iam/collections.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { codeOf, type Ground, openGround, replyOf } from "./ground.ts";
import { addProvider } from "./provider-tree.ts";
import {
  addCaller,
  addGroup,
  addIdentity,
  addRole,
  arrange,
  bind,
  operatorRole,
  ownerRole,
  viewerRole,
} from "./tree.ts";

after(stopPostgres);

const importMethod = "OrganizationImportService/ImportResources";
const attacker = { issuer: "https://attacker.example.org", subject: "attacker" };

interface Result {
  readonly outcome: string;
  readonly problems?: readonly { readonly field: string; readonly description: string }[];
}

for (const database of databases) {
  describe(`the import of an organization that an attacker made, on ${database}`, () => {
    let ground: Ground;
    before(async () => {
      ground = await openGround({ database });
    });
    after(() => ground[Symbol.asyncDispose]());

    /** Imports resources into an organization as an operator. */
    async function importing(organizationUid: string, ...resources: JsonObject[]): Promise<Result[]> {
      const request = { organizationUid, resources };
      const reply = replyOf(await ground.once(ground.server.ownerToken, importMethod, request));
      return reply.results as unknown as Result[];
    }

    async function rejectedWith(organizationUid: string, resource: JsonObject): Promise<string> {
      const [result] = await importing(organizationUid, resource);
      assert.equal(result!.outcome, "IMPORT_OUTCOME_REJECTED", JSON.stringify(result));
      const [problem] = result!.problems!;
      return `${problem!.field}: ${problem!.description}`;
    }

    it("I8: only operators of the whole installation can import", async () => {
      const { server } = ground;
      const root = await addGroup(server, null);
      const team = await addGroup(server, root);
      const internal = await addRole(server, root, [Capability.CAP_INTERNAL]);
      const request = { organizationUid: root, resources: [{ group: { uid: root, name: "taken over" } }] };
      const callers = {
        "an owner": (await addCaller(server, root, ownerRole.uid)).token,
        "an operator of a subgroup": (await addCaller(server, team, internal)).token,
        "an operator with a token for one group": await server.tokenOf(server.ownerUid, { scopes: [root] }),
        "an operator with a token for one capability": await server.tokenOf(server.ownerUid, {
          capabilities: capabilitySet([Capability.CAP_INTERNAL]),
        }),
      };
      for (const [who, token] of Object.entries(callers)) {
        const outcome = await ground.everywhere(token, importMethod, request);
        assert.equal(codeOf(outcome), "PERMISSION_DENIED", who);
      }
      assert.equal(codeOf(await ground.once(undefined, importMethod, request)), "UNAUTHENTICATED");
    });

    it("a request with more resources than one call may have is rejected with both numbers, and writes nothing", async () => {
      const uid = "c".repeat(40);
      const resources = Array.from({ length: 501 }, () => ({ group: { uid, name: "too many" } }));
      const outcome = await ground.once(ground.server.ownerToken, importMethod, { organizationUid: uid, resources });
      assert.equal(codeOf(outcome), "INVALID_ARGUMENT");
      assert.match(JSON.stringify(outcome), /has 501 items, and must not have more than 500/);
      const [result] = await importing(uid, { group: { uid, name: "fits" } });
      assert.equal(result!.outcome, "IMPORT_OUTCOME_CREATED");
    });

    it("I1: a file of one organization changes nothing of another", async () => {
      const { server } = ground;
      const [own, other] = [await addGroup(server, null), await addGroup(server, null)];
      const [group, identity, role] = [
        await addGroup(server, other),
        await addIdentity(server, other),
        await addRole(server, other, []),
      ];
      const below = /^uid: must be a uid below that of the organization/;
      const foreign: readonly JsonObject[] = [
        { group: { uid: other, name: "taken over" } },
        { group: { uid: group, name: "taken over" } },
        { group: { uid: `${other}/${"a".repeat(16)}`, name: "new" } },
        { identity: { uid: identity, name: "taken over", claimMatch: attacker } },
        { role: { uid: role, name: "taken over", capabilities: ["CAP_IAM_GROUPS_LIST"] } },
        { role: { uid: ownerRole.uid, name: "owner", capabilities: ["CAP_IAM_GROUPS_LIST"] } },
        { roleBinding: { uid: `${other}/${"b".repeat(16)}`, identityUid: identity, roleUid: ownerRole.uid } },
        // All but its last digit is that of the organization.
        { group: { uid: `${own.slice(0, 39)}${own.endsWith("0") ? "1" : "0"}/${"c".repeat(16)}`, name: "near" } },
        { group: { uid: `${own}/../${"c".repeat(16)}`, name: "dots" } },
      ];
      for (const resource of foreign) assert.match(await rejectedWith(own, resource), below);
    });

    it("R6: a uid that names something here does not become another kind of resource", async () => {
      const { server } = ground;
      const root = await addGroup(server, null);
      const identity = await addIdentity(server, root);
      const user = userUid("https://login.example.org", "alice");
      await arrange(server, (tx) =>
        register(tx, {
          person: { issuer: "https://login.example.org", subject: "alice", name: "alice", claims: { act: {} } },
          invite: "",
          vouches: () => false,
        }),
      );
      const taken = "uid: is the uid of another kind of resource";
      assert.equal(await rejectedWith(user, { group: { uid: user, name: "alice" } }), taken);
      assert.equal(await rejectedWith(ownerRole.uid, { group: { uid: ownerRole.uid, name: "owner" } }), taken);
      assert.equal(await rejectedWith(root, { group: { uid: identity, name: "identity" } }), taken);
    });

    it("R6: a person whose uid was given to an organization does not become that organization", async () => {
      const person = { issuer: "https://login.example.org", subject: "bob", name: "bob", claims: { act: {} } };
      const uid = userUid(person.issuer, person.subject);
      const [result] = await importing(uid, { group: { uid, name: "bob" } });
      assert.equal(result!.outcome, "IMPORT_OUTCOME_CREATED");
      const registered = arrange(ground.server, (tx) => register(tx, { person, invite: "", vouches: () => false }));
      await assert.rejects(registered, { code: Code.PERMISSION_DENIED });
    });

    it("R1: nobody becomes an operator, and nobody ceases to be one", async () => {
      const { server } = ground;
      const root = await addGroup(server, null);
      const internal = await addRole(server, root, [Capability.CAP_INTERNAL]);
      const operator = await addIdentity(server, root);
      const byCustomRole = await addIdentity(server, root);
      const stranger = await addIdentity(server, root);
      const binding = await bind(server, root, operator, operatorRole.uid);
      await bind(server, root, byCustomRole, internal);
      const provider = await addProvider(server, root);
      const mapping = `${provider}/${"a".repeat(16)}`;
      await arrange(server, (tx) =>
        insertRow(tx, externalGroupRoleMappingCollection, {
          uid: mapping,
          parent: provider,
          externalGroupId: "operators",
          roleUid: operatorRole.uid,
          scope: root,
          createTime: server.clock(),
        }),
      );
      const fresh = `${root}/${"1".repeat(16)}`;
      const gives = "would give the capability internal, which an import gives to nobody";
      const takes = "gives the capability internal here, which an import neither gives nor takes";
      const other = "is an identity of an operator here, which an import gives no other credentials";
      const oidc = { issuer: attacker.issuer, clientId: "gatehouse", pkceEnabled: true };
      const staticKeys = { issuer: attacker.issuer, issuerKeys: "{}", expirationTime: "2027-01-01T00:00:00Z" };
      const cases: readonly (readonly [JsonObject, string | RegExp])[] = [
        [{ roleBinding: { uid: fresh, identityUid: stranger, roleUid: operatorRole.uid } }, `role_uid: ${gives}`],
        [{ roleBinding: { uid: fresh, identityUid: stranger, roleUid: internal } }, `role_uid: ${gives}`],
        [{ roleBinding: { uid: binding, identityUid: stranger, roleUid: operatorRole.uid } }, `role_uid: ${gives}`],
        [{ roleBinding: { uid: binding, identityUid: operator, roleUid: viewerRole.uid } }, `uid: ${takes}`],
        [{ role: { uid: fresh, name: "almighty", capabilities: ["CAP_INTERNAL"] } }, `capabilities: ${gives}`],
        [{ role: { uid: internal, name: "custom", capabilities: ["CAP_REPO_LIST"] } }, `capabilities: ${takes}`],
        [{ identity: { uid: operator, name: "identity", claimMatch: attacker } }, `uid: ${other}`],
        [{ identity: { uid: byCustomRole, name: "identity", claimMatch: attacker } }, `uid: ${other}`],
        [{ identity: { uid: operator, name: "identity", staticKeys } }, /^(uid|static)/],
        [
          { identityTrust: { uid: operator, namePolicy: "NAME_POLICY_OFF" } },
          "uid: is an identity of an operator here, whose pins an import keeps",
        ],
        [
          { identityProvider: { uid: provider, name: "provider", defaultRole: viewerRole.uid, oidc } },
          "oidc: decides who operators are here, which an import does not change",
        ],
        [
          { identityProvider: { uid: fresh, name: "new", defaultRole: operatorRole.uid, oidc } },
          `default_role: ${gives}`,
        ],
        [
          {
            externalGroupRoleMapping: {
              uid: mapping,
              externalGroupId: "everyone",
              roleUid: operatorRole.uid,
              scope: root,
            },
          },
          /internal/,
        ],
        [
          {
            externalGroupRoleMapping: {
              uid: mapping,
              externalGroupId: "operators",
              roleUid: viewerRole.uid,
              scope: root,
            },
          },
          `uid: ${takes}`,
        ],
      ];
      for (const [resource, expected] of cases) {
        const problem = await rejectedWith(root, resource);
        if (typeof expected === "string") assert.equal(problem, expected);
        else assert.match(problem, expected);
      }
      // Identities that give no access may still be imported.
      const [renamed] = await importing(root, {
        identity: {
          uid: operator,
          name: "renamed",
          claimMatch: { issuer: "https://issuer.example.org", subject: operator },
        },
      });
      assert.equal(renamed!.outcome, "IMPORT_OUTCOME_UPDATED");
    });

    it("R6: a binding refers to identities and roles that exist, and to roles of its own organization", async () => {
      const { server } = ground;
      const [own, other] = [await addGroup(server, null), await addGroup(server, null)];
      const [foreignRole, foreignIdentity] = [await addRole(server, other, []), await addIdentity(server, other)];
      const uid = `${own}/${"1".repeat(16)}`;
      const role = await rejectedWith(own, {
        roleBinding: { uid, identityUid: foreignIdentity, roleUid: foreignRole },
      });
      assert.equal(role, "role_uid: must be a built-in role, or a role of the group or of an ancestor");
      const missing = await rejectedWith(own, {
        roleBinding: { uid, identityUid: `${other}/${"9".repeat(16)}`, roleUid: viewerRole.uid },
      });
      assert.match(missing, /^identity_uid: must be the uid of an identity that exists/);
      const group = await rejectedWith(own, { roleBinding: { uid, identityUid: other, roleUid: viewerRole.uid } });
      assert.match(group, /^identity_uid: must be the uid of an identity that exists/);
    });

    it("I5: an identity of another organization gets access to the imported one, but not the reverse", async () => {
      const { server } = ground;
      const [own, other] = [await addGroup(server, null), await addGroup(server, null)];
      const identity = await addIdentity(server, other);
      const [first, second] = await importing(
        own,
        { roleBinding: { uid: `${own}/${"1".repeat(16)}`, identityUid: identity, roleUid: viewerRole.uid } },
        { group: { uid: `${own}/${"2".repeat(16)}`, name: "next" } },
      );
      assert.deepEqual([first!.outcome, second!.outcome], ["IMPORT_OUTCOME_CREATED", "IMPORT_OUTCOME_CREATED"]);
      const { token: owner } = await addCaller(server, own, ownerRole.uid);
      const outcome = await ground.once(owner, "IdentitiesService/GetIdentity", { uid: identity });
      assert.equal(codeOf(outcome), "PERMISSION_DENIED");
    });

    it("R7: an organization is verified by the operators of each installation", async () => {
      const { server } = ground;
      const uid = "5".repeat(39) + (database === "sqlite" ? "1" : "2");
      const group = { group: { uid, name: "bank.example", verified: true, kind: "ORG_KIND_CUSTOMER" } };
      const verifiedOf = async () => {
        const request = { organizationUid: uid, resources: [group], validateOnly: true, acceptVerified: true };
        const reply = replyOf(await ground.once(server.ownerToken, importMethod, request));
        return (reply.results as unknown as Result[])[0]!.outcome === "IMPORT_OUTCOME_UNCHANGED";
      };
      await importing(uid, group);
      assert.equal(await verifiedOf(), false);
      const accepted = { organizationUid: uid, resources: [group], acceptVerified: true };
      await ground.once(server.ownerToken, importMethod, accepted);
      assert.equal(await verifiedOf(), true);
      const rival = "6".repeat(40);
      const request = {
        organizationUid: rival,
        acceptVerified: true,
        resources: [{ group: { ...group.group, uid: rival } }],
      };
      const reply = replyOf(await ground.once(server.ownerToken, importMethod, request));
      const [{ problems }] = reply.results as unknown as [Result];
      assert.match(problems![0]!.description, /is the name of a verified organization already/);
    });

    it("W1, J1, M3: sinks, issuers and patterns obey the rules of the API", async () => {
      const root = await addGroup(ground.server, null);
      const uid = `${root}/${"1".repeat(16)}`;
      const identity = (claimMatch: JsonObject) => ({ identity: { uid, name: "x", claimMatch } });
      const invalid: readonly JsonObject[] = [
        { subscription: { uid, sink: "https://169.254.169.254/latest" } },
        { subscription: { uid, sink: "file:///etc/passwd" } },
        identity({ issuer: "https://169.254.169.254/?x", subject: "a" }),
        identity({ issuerPattern: "https://good.example/.*|https://\\S+", subject: "a" }),
        identity({ issuer: "https://issuer.example.org", subjectPattern: "(a{1000}){1000}" }),
        {
          identityProvider: {
            uid,
            name: "x",
            defaultRole: viewerRole.uid,
            oidc: { issuer: "http://idp.example.org", clientId: "x", pkceEnabled: true },
          },
        },
        { role: { uid, name: "Owner", capabilities: ["CAP_REPO_LIST"] } },
        { repo: { uid, name: "../../etc" } },
      ];
      for (const resource of invalid) await rejectedWith(root, resource);
    });
  });
}
