// External group role mappings: the role that a group of an identity provider gives to its users, and where.
import { parentOf } from "../../model/uid.ts";
import { created, uid } from "./columns.ts";
import { groups } from "./groups.ts";
import { identityProviders } from "./identity-providers.ts";
import type { Resource } from "./resource.ts";
import { roles } from "./roles.ts";

export const externalGroupRoleMappings: Resource = {
  path: "iam external-group-role-mappings",
  noun: "external group role mapping",
  type: "ExternalGroupRoleMapping",
  service: async () =>
    (await import("../../../gen/chainguard/platform/iam/v2beta1/external_group_role_mappings_pb.ts"))
      .ExternalGroupRoleMappingsService,
  verbs: ["list", "describe", "create", "delete"],
  view: {
    noun: "external group role mappings",
    columns: [
      { title: "external group", value: "externalGroupId" },
      uid,
      { title: "role", value: "roleUid" },
      { title: "scope", value: "scope" },
      { title: "identity provider", value: "identityProviderUid", wide: true },
      created,
    ],
  },
  // The list has no filter for it.
  name: { member: "externalGroupId", filter: "" },
  argument: { name: "external group", field: "externalGroupId" },
  parent: {
    flags: "--identity-provider <name|uid>",
    description: "identity provider of the group",
    resource: () => identityProviders,
  },
  fields: [
    {
      flags: "--role <name|uid>",
      description: "role that the members of the group get",
      field: "roleUid",
      required: true,
      refersTo: () => roles,
    },
    {
      flags: "--scope <name|uid>",
      description: "group where they have the role; by default the organization of the identity provider",
      field: "scope",
      refersTo: () => groups,
    },
  ],
  complete: async (body, { identityProvider }, session) => {
    if (body.scope !== undefined) return body;
    const { findUid } = await import("./lookup.ts");
    return { ...body, scope: parentOf(await findUid(session, identityProviders, String(identityProvider))) };
  },
  filters: [
    {
      flags: "--identity-provider <name|uid>",
      description: "only those of this identity provider",
      field: "identityProviderUid",
      refersTo: () => identityProviders,
    },
  ],
};
