import type { JsonObject } from "@bufbuild/protobuf";
import { isUid, parentOf } from "../../model/uid.ts";
import type { Column } from "../output/view.ts";
import { termChanges, termFlags, withTerms } from "./binding-terms.ts";
import { created, nameOrUid, uid } from "./columns.ts";
import { groups } from "./groups.ts";
import { identities } from "./identities.ts";
import { findParentGroup } from "./parent-group.ts";
import type { Resource } from "./resource.ts";
import { roles } from "./roles.ts";

const columns: readonly Column[] = [
  { title: "identity", value: ({ identity }) => nameOrUid(identity), inDetails: false },
  { title: "role", value: ({ role }) => nameOrUid(role), inDetails: false },
  { title: "group", value: ({ group }) => nameOrUid(group), inDetails: false },
  uid,
  { title: "identity uid", value: "identity.uid", wide: true },
  created,
];

export const roleBindings: Resource = {
  path: "iam role-bindings",
  noun: "role binding",
  type: "RoleBinding",
  service: async () =>
    (await import("../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts")).RoleBindingsService,
  verbs: ["list", "describe", "create", "update", "delete"],
  view: {
    noun: "role bindings",
    columns,
  },
  parent: "group",
  fields: [
    {
      flags: "--identity <name|address|uid>",
      description: "workload or person that gets the role",
      field: "identityUid",
      required: true,
      refersTo: () => identities,
      async read(value, session, { uid: own }, { parent }) {
        const text = String(value);
        if (isUid(text)) return text;
        const { findGrantee } = await import("./grantees.ts");
        // An update has the uid of the binding, which begins with that of its group.
        const group = typeof own === "string" ? parentOf(own) : await findParentGroup(session, "role binding", parent);
        return await findGrantee(session, text, group);
      },
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
  completing: termFlags,
  instead: termChanges,
  columnsFor: (request, session) => withTerms(columns, request, session),
  exported: { toImported },
};

/** A list shows identity and role of a binding; an import takes their uids. */
async function toImported({ uid: own, identity, role, createTime }: JsonObject): Promise<JsonObject | undefined> {
  const { operatorRole } = await import("../../authz/built-in-roles.ts");
  const [identityUid, roleUid] = [identity, role].map((shown) => (shown as JsonObject).uid);
  if (roleUid === operatorRole.uid) return undefined;
  return { uid: own!, identityUid: identityUid!, roleUid: roleUid!, createTime: createTime! };
}
