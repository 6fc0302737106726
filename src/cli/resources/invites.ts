import { nameOrUid, uid } from "./columns.ts";
import { duration } from "./flags.ts";
import type { Resource } from "./resource.ts";
import { roles } from "./roles.ts";

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
