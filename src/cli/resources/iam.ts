// The table of IAM resources: names, columns and flags.
import { accountAssociations } from "./account-associations.ts";
import { created, nameOrUid, uid } from "./columns.ts";
import { externalGroupRoleMappings } from "./external-group-role-mappings.ts";
import { duration } from "./flags.ts";
import { folders, groups, organizations } from "./groups.ts";
import { identities } from "./identities.ts";
import { identityProviders } from "./identity-providers.ts";
import type { Resource } from "./resource.ts";
import { roles } from "./roles.ts";

export const roleBindings: Resource = {
  path: "iam role-bindings",
  noun: "role binding",
  type: "RoleBinding",
  service: async () =>
    (await import("../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts")).RoleBindingsService,
  verbs: ["list", "describe", "create", "update", "delete"],
  view: {
    noun: "role bindings",
    columns: [
      { title: "identity", value: ({ identity }) => nameOrUid(identity), inDetails: false },
      { title: "role", value: ({ role }) => nameOrUid(role), inDetails: false },
      { title: "group", value: ({ group }) => nameOrUid(group), inDetails: false },
      uid,
      { title: "identity uid", value: "identity.uid", wide: true },
      created,
    ],
  },
  parent: "group",
  fields: [
    {
      flags: "--identity <name|uid>",
      description: "identity that gets the role",
      field: "identityUid",
      required: true,
      refersTo: () => identities,
    },
    {
      flags: "--role <name|uid>",
      description: "the role",
      field: "roleUid",
      required: true,
      refersTo: () => roles,
    },
  ],
  filters: [
    {
      flags: "--identity <name|uid>",
      description: "only those of this identity",
      field: "identity",
      refersTo: () => identities,
    },
    { flags: "--role <name|uid>", description: "only those of this role", field: "role", refersTo: () => roles },
    {
      flags: "--group <name|uid>",
      description: "only those bound at this group",
      field: "group",
      refersTo: () => groups,
    },
  ],
};

export const invites: Resource = {
  path: "iam invites",
  noun: "invite",
  type: "GroupInvite",
  service: async () =>
    (await import("../../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts")).GroupInvitesService,
  verbs: ["list", "describe", "create", "update", "delete"],
  view: {
    noun: "invites",
    columns: [
      uid,
      { title: "role", value: ({ role }) => nameOrUid(role), inDetails: false },
      { title: "email", value: "email" },
      { title: "single use", value: ({ singleUse }) => (singleUse === true ? "yes" : "no"), member: "singleUse" },
      { title: "expires", value: "expirationTime" },
      // Only the response of create contains it.
      { title: "code", value: "code" },
      { title: "key id", value: "keyId", wide: true },
    ],
  },
  parent: "group",
  fields: [
    {
      flags: "--role <name|uid>",
      description: "role that the invite gives",
      field: "roleUid",
      required: true,
      refersTo: () => roles,
    },
    { flags: "--email <address>", description: "e-mail address that may accept it", field: "email" },
    {
      flags: "--ttl <time>",
      description: "lifetime of the invite",
      field: "ttl",
      read: duration,
      fallback: "168h",
    },
    { flags: "--single-use", description: "the invite can be accepted once", field: "singleUse" },
  ],
  filters: [{ flags: "--key-id <id>", description: "only the one with this key id", field: "keyId" }],
};

/** All IAM resources in the order of the help. */
export const iamResources: readonly Resource[] = [
  organizations,
  folders,
  groups,
  identities,
  roles,
  roleBindings,
  invites,
  identityProviders,
  externalGroupRoleMappings,
  accountAssociations,
];
