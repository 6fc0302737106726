// Requests of version 1 that are in order but for the uid that they are about.
import type { JsonObject } from "@bufbuild/protobuf";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";

const viewer = builtInRoles.find(({ name }) => name === "viewer")!.uid;
const identity = { name: "x", claimMatch: { issuer: "https://issuer.example.org", subject: "x" } };
const role = { name: "x", capabilities: ["groups.list"] };
const oidc = { issuer: "https://issuer.example.org", clientId: "x", pkceEnabled: true };
const provider = { name: "x", defaultRole: viewer, oidc };
const mapping = { externalGroupId: "x", roleUidp: viewer, scope: "0".repeat(40) };
const advisory = { artifactName: "x", artifactType: "apk", artifactArchitecture: "x86_64", author: "x" };
const advisoryEvent = { author: "x", status: "PENDING", fixed: { fixedVersion: "1" } };
const digest = `sha256:${"a".repeat(64)}`;
const roleBinding = { identity: "0".repeat(40), role: viewer };

/** Requests of the methods that are about one uid. */
export const targets: Readonly<Record<string, (uid: string) => JsonObject>> = {
  "iam.Groups/Create": (parent) => ({ parent, group: { name: "x" } }),
  "iam.Groups/Update": (id) => ({ id, name: "x" }),
  "iam.Groups/Delete": (id) => ({ id }),
  "iam.Identities/Create": (parentId) => ({ parentId, identity }),
  "iam.Identities/Update": (id) => ({ id, ...identity }),
  "iam.Identities/Delete": (id) => ({ id }),
  "iam.Roles/Create": (parentId) => ({ parentId, role }),
  "iam.Roles/Update": (id) => ({ id, ...role }),
  "iam.Roles/Delete": (id) => ({ id }),
  "iam.RoleBindings/Create": (parent) => ({ parent, roleBinding }),
  "iam.RoleBindings/CreateBatch": (parent) => ({ parent, roleBindings: [roleBinding] }),
  "iam.RoleBindings/Update": (id) => ({ id, ...roleBinding }),
  "iam.RoleBindings/Delete": (id) => ({ id }),
  "iam.GroupInvites/Create": (group) => ({ group, role: viewer, ttl: "60s" }),
  "iam.GroupInvites/Delete": (id) => ({ id }),
  "iam.GroupAccountAssociations/Create": (group) => ({ group, name: "x" }),
  "iam.GroupAccountAssociations/Update": (group) => ({ group, name: "x" }),
  "iam.GroupAccountAssociations/Delete": (group) => ({ group }),
  "iam.GroupAccountAssociations/Check": (group) => ({ group, accountType: "AMAZON" }),
  "iam.IdentityProviders/Create": (parentId) => ({ parentId, identityProvider: provider }),
  "iam.IdentityProviders/Update": (id) => ({ id, ...provider }),
  "iam.IdentityProviders/Delete": (id) => ({ id }),
  "iam.IdentityProviders/GenerateScimToken": (identityProviderId) => ({ identityProviderId }),
  "iam.IdentityProviders/RegenerateScimToken": (identityProviderId) => ({ identityProviderId, etag: "x" }),
  "iam.IdentityProviders/RevokeScimToken": (identityProviderId) => ({ identityProviderId }),
  "iam.IdentityProviders/SetScimEnabled": (identityProviderId) => ({ identityProviderId, etag: "x" }),
  "iam.ExternalGroupRoleMappings/Create": (parentId) => ({ parentId, mapping }),
  "iam.ExternalGroupRoleMappings/Get": (uid) => ({ uid }),
  "iam.ExternalGroupRoleMappings/Delete": (id) => ({ id }),
  "iam.ExternalGroupRoleMappings/BatchDelete": (parentId) => ({ parentId, ids: [viewer] }),
  "iam.Terms/AcceptTerms": (group) => ({ group, documentIds: ["x"] }),
  "iam.Terms/ListAccepted": (group) => ({ group }),
  "events.Subscriptions/Create": (parentId) => ({ parentId, subscription: { sink: "https://example.org/" } }),
  "events.Subscriptions/Delete": (id) => ({ id }),
  "vulnerabilities.v1.Advisories/Create": (parentId) => ({ parentId, advisory }),
  "vulnerabilities.v1.Advisories/Update": (id) => ({ id, ...advisory }),
  "vulnerabilities.v1.Advisories/Delete": (id) => ({ id }),
  "vulnerabilities.v1.Advisories/CreateAdvisoryEvent": (parentId) => ({ parentId, advisoryEvent }),
  "vulnerabilities.v1.Advisories/UpdateAdvisoryEvent": (id) => ({ id, ...advisoryEvent }),
  "vulnerabilities.v1.Advisories/ListAdvisoryEvents": (parentId) => ({ parentId }),
  "registry.Registry/CreateRepo": (parentId) => ({ parentId, repo: { name: "x" } }),
  "registry.Registry/UpdateRepo": (id) => ({ id, name: "x" }),
  "registry.Registry/GetRepoCountBySource": (id) => ({ id }),
  "registry.Registry/DeleteRepo": (id) => ({ id }),
  "registry.Registry/CreateTag": (repoId) => ({ repoId, tag: { name: "x" } }),
  "registry.Registry/UpdateTag": (id) => ({ id, name: "x" }),
  "registry.Registry/DeleteTag": (id) => ({ id }),
  "registry.Registry/GetRepoTagsSummary": (repoId) => ({ repoId }),
  "registry.Registry/ListTagHistory": (parentId) => ({ parentId }),
  "registry.Registry/GetArchs": (repoId) => ({ repoId, digest }),
  "registry.Registry/GetSize": (repoId) => ({ repoId, digest }),
  "registry.Registry/GetSbom": (repoId) => ({ repoId, digest }),
  "registry.Registry/GetRawSbom": (repoId) => ({ repoId, digest }),
  "registry.Registry/GetVulnReport": (repoId) => ({ repoId, digest }),
  "registry.Registry/GetImageConfig": (repoId) => ({ repoId, digest }),
  "registry.Registry/ListManifestMetadata": (repoId) => ({ repoId }),
  "registry.Registry/GetManifestDigestCount": (parentId) => ({ parentId }),
  "registry.Registry/CreateDeployment": (parentId) => ({ parentId }),
  "registry.Registry/UpdateDeployment": (repoId) => ({ repoId }),
  "registry.Registry/GetDeployment": (repoId) => ({ repoId }),
};

const places = ["id", "uidp.ids", "uidp.descendantsOf", "uidp.childrenOf"];

/** The fields of lists that carry a uid. */
export const filters: Readonly<Record<string, readonly string[]>> = {
  "iam.Groups/List": places,
  "iam.Identities/List": places,
  "iam.Roles/List": [...places, "parent"],
  "iam.RoleBindings/List": places,
  "iam.GroupInvites/List": ["id", "group"],
  "iam.GroupAccountAssociations/List": ["group"],
  "iam.IdentityProviders/List": places,
  "iam.ExternalGroupRoleMappings/List": [...places.slice(1), "identityProviderUidp"],
  "events.Subscriptions/List": places,
  "vulnerabilities.v1.Advisories/List": places,
  "registry.Registry/ListRepos": places,
  "registry.Registry/ListTags": places,
  "registry.Registry/ListEolTags": places.slice(1),
};

/** Methods that take no uid, or one that says nothing: they are tested by themselves. */
export const withoutUid: readonly string[] = [
  "iam.Groups/LookupGroup",
  "iam.Groups/RequestGroupAccess",
  "iam.Groups/CheckEligibility",
  "iam.Identities/Lookup",
  "iam.GroupInvites/CreateWithGroup",
  "events.Identities/UpdateMetadata",
  "registry.Registry/GetPackageVersionMetadata",
];
