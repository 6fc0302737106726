// R, X: a caller who may change the issuers of an organization could take over its users and identities.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import { capabilitySet } from "../../src/model/capabilities.ts";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startUpstream, type Upstream } from "../sign-in/openid-client.ts";
import { codeOf, type Ground, openGround, replyOf } from "./ground.ts";
import { addProvider } from "./provider-tree.ts";
import {
  addCaller,
  addGroup,
  addIdentity,
  addRole,
  bind,
  bindAll,
  operatorRole,
  ownerRole,
  viewerRole,
} from "./tree.ts";

after(stopPostgres);

const createMethod = "IdentityProvidersService/CreateIdentityProvider";
const updateMethod = "IdentityProvidersService/UpdateIdentityProvider";
const client = "another-service";
const administration = [
  Capability.CAP_IAM_IDENTITY_PROVIDERS_CREATE,
  Capability.CAP_IAM_IDENTITY_PROVIDERS_UPDATE,
  Capability.CAP_IAM_ROLE_BINDINGS_CREATE,
];

for (const database of databases) {
  describe(`control over issuers, on ${database}`, () => {
    let ground: Ground;
    let upstream: Upstream;
    before(async () => {
      upstream = await startUpstream();
      ground = await openGround({ database });
    });
    after(async () => {
      await ground[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    });

    /** Returns an organization with a caller who may add and change its providers, and nothing else. */
    async function arrangeOrganization() {
      const root = await addGroup(ground.server, null, "acme");
      const role = await addRole(ground.server, root, administration);
      const admin = await addCaller(ground.server, root, role);
      const request = {
        parent: root,
        identityProvider: {
          name: "mine",
          defaultRole: role,
          oidc: { issuer: upstream.issuer, clientId: client, pkceEnabled: true },
        },
      };
      return { root, role, admin, request };
    }

    /** Returns an identity that asks for these claims. */
    function addMatching(parent: string, value: Record<string, unknown>, issuer = ""): Promise<string> {
      return addIdentity(ground.server, parent, { relationship: { case: "claimMatch", value }, issuer, subject: "" });
    }

    async function addPerson(subject: string, issuer = upstream.issuer): Promise<string> {
      const person = { uid: userUid(issuer, subject), parent: null, relationshipType: 0, issuer, subject };
      return await addIdentity(ground.server, "", { ...person, relationship: { case: "", value: null } });
    }

    /** Ways to hold the owner role in an organization, and whether the issuer's tokens for the client can be the owner's. */
    const owners: Readonly<Record<string, readonly [isSpokenFor: boolean, add: (root: string) => Promise<string>]>> = {
      "an identity of the issuer": [
        true,
        (root) => addMatching(root, { issuer: upstream.issuer, subject: "deployer" }, upstream.issuer),
      ],
      "an identity of a pattern that the issuer fits": [
        true,
        (root) => addMatching(root, { issuerPattern: `${upstream.issuer}.*`, subject: "deployer" }),
      ],
      "an identity that asks for this client": [
        true,
        (root) =>
          addMatching(root, { issuer: upstream.issuer, subject: "deployer", audience: client }, upstream.issuer),
      ],
      "a person of the issuer": [true, () => addPerson(`person-${database}`)],
      "a person of another issuer": [false, () => addPerson(`person-${database}`, "https://other.example.org")],
      "an identity that asks for another client": [
        false,
        (root) =>
          addMatching(root, { issuer: upstream.issuer, subject: "deployer", audience: "third" }, upstream.issuer),
      ],
      "an identity of another issuer": [false, (root) => addIdentity(ground.server, root)],
    };
    for (const [who, [isSpokenFor, add]] of Object.entries(owners)) {
      it(`R2: if ${who} is an owner, another caller ${isSpokenFor ? "may not" : "may"} create a provider`, async () => {
        const { root, role, admin, request } = await arrangeOrganization();
        await bind(ground.server, root, await add(root), ownerRole.uid);
        const expected = isSpokenFor ? "PERMISSION_DENIED" : "OK";
        assert.equal(codeOf(await ground.once(admin.token, createMethod, request)), expected);

        // Nor is one made that was harmless before.
        const harmless = { parent: root, defaultRole: role, issuer: "https://harmless.example.org" };
        const provider = { uid: await addProvider(ground.server, root, harmless), oidc: request.identityProvider.oidc };
        const redirect = { identityProvider: provider, updateMask: "oidc.issuer,oidc.clientId" };
        assert.equal(codeOf(await ground.everywhere(admin.token, updateMethod, redirect)), expected);
        const rename = { identityProvider: { uid: provider.uid, name: "renamed" }, updateMask: "name" };
        assert.equal(codeOf(await ground.once(admin.token, updateMethod, rename)), "OK");

        const owner = await addCaller(ground.server, root, ownerRole.uid);
        assert.equal(codeOf(await ground.once(owner.token, createMethod, request)), "OK");
      });
    }

    it("R2: another client of the issuer does not count as the same provider", async () => {
      const { root, role, admin } = await arrangeOrganization();
      const deployer = { issuer: upstream.issuer, subject: "deployer" };
      await bind(ground.server, root, await addMatching(root, deployer, upstream.issuer), ownerRole.uid);
      const uid = await addProvider(ground.server, root, { defaultRole: role, issuer: upstream.issuer });
      const update = { identityProvider: { uid, oidc: { clientId: client } }, updateMask: "oidc.clientId" };
      assert.equal(codeOf(await ground.everywhere(admin.token, updateMethod, update)), "PERMISSION_DENIED");
    });

    it("R2: an owner cannot take over an operator by a provider", async () => {
      const { root, request } = await arrangeOrganization();
      const deployer = { issuer: upstream.issuer, subject: "deployer" };
      await bind(ground.server, root, await addMatching(root, deployer, upstream.issuer), operatorRole.uid);
      const owner = await addCaller(ground.server, root, ownerRole.uid);
      assert.equal(codeOf(await ground.everywhere(owner.token, createMethod, request)), "PERMISSION_DENIED");
    });

    it("R2: an owner cannot take over an owner of another organization by a provider", async () => {
      const { root, request } = await arrangeOrganization();
      const deployer = { issuer: upstream.issuer, subject: "deployer" };
      const elsewhere = await addGroup(ground.server, null, "elsewhere");
      await bind(ground.server, elsewhere, await addMatching(root, deployer, upstream.issuer), ownerRole.uid);
      const owner = await addCaller(ground.server, root, ownerRole.uid);
      assert.equal(codeOf(await ground.everywhere(owner.token, createMethod, request)), "PERMISSION_DENIED");
    });

    it("R2: the caller must hold in the subgroup of an identity what is bound to it above", async () => {
      const { root, admin, request } = await arrangeOrganization();
      const subgroup = await addGroup(ground.server, root, "subgroup");
      const deployer = { issuer: upstream.issuer, subject: "deployer" };
      await bind(ground.server, root, await addMatching(subgroup, deployer, upstream.issuer), ownerRole.uid);
      assert.equal(codeOf(await ground.everywhere(admin.token, createMethod, request)), "PERMISSION_DENIED");
      await bind(ground.server, subgroup, admin.uid, ownerRole.uid);
      assert.equal(codeOf(await ground.once(admin.token, createMethod, request)), "OK");
    });

    it("R2: a narrowed token counts only with its own capabilities", async () => {
      const { root, request } = await arrangeOrganization();
      const deployer = { issuer: upstream.issuer, subject: "deployer" };
      await bind(ground.server, root, await addMatching(root, deployer, upstream.issuer), ownerRole.uid);
      const owner = await addCaller(ground.server, root, ownerRole.uid);
      const token = await ground.server.tokenOf(owner.uid, { capabilities: capabilitySet(administration) });
      assert.equal(codeOf(await ground.once(token, createMethod, request)), "PERMISSION_DENIED");
    });

    for (const where of ["in the organization", "outside of it"]) {
      it(`R2: a thousand bindings ${where}, more than the limit, deny every new provider`, async () => {
        const { root, admin, request } = await arrangeOrganization();
        const place = where === "outside of it" ? await addGroup(ground.server, null, "elsewhere") : root;
        // For another client, so none of them is a reason by itself.
        const third = { issuer: upstream.issuer, subject: "deployer", audience: "third" };
        const add = () => addMatching(root, third, upstream.issuer);
        const identities = await Promise.all(Array.from({ length: 40 }, add));
        const roles = builtInRoles.slice(0, 25);
        const [last, ...most] = identities.flatMap((identity) => roles.map(({ uid }) => [identity, uid] as const));
        await bindAll(ground.server, place, most);
        assert.equal(codeOf(await ground.once(admin.token, createMethod, request)), "OK");
        await bind(ground.server, place, ...last!);
        assert.equal(codeOf(await ground.once(admin.token, createMethod, request)), "PERMISSION_DENIED");
      });
    }

    it("X10: tokens for the client of a provider give only what its maker could have given", async () => {
      const { root, request } = await arrangeOrganization();
      const deployer = { issuer: upstream.issuer, subject: "deployer" };
      const identity = await addMatching(root, deployer, upstream.issuer);
      await bind(ground.server, root, identity, viewerRole.uid);
      const owner = await addCaller(ground.server, root, ownerRole.uid);
      const token = await upstream.idToken({ sub: "deployer", aud: client });
      const path = `/sts/exchange?aud=${ground.server.config.baseUrl}&identity=${identity}`;
      assert.equal((await rest(ground.server.url, token, "POST", path)).status, 403);
      const { uid } = replyOf(await ground.once(owner.token, createMethod, request));
      const exchanged = await rest(ground.server.url, token, "POST", `${path}&identity_provider=${uid}`);
      assert.equal(exchanged.status, 200);
    });
  });
}
