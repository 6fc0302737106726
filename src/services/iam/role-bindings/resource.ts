import {
  type RoleBinding,
  RoleBindingSchema,
} from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import type { Term } from "../../../model/grants.ts";
import { defineResource, roleOrders } from "../../../resource/resource.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import { standardMethods } from "../../../resource/standard-methods.ts";
import { roleBindingCollection } from "../../../storage/iam/collections.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";
import { groupParents } from "../groups/groups.ts";
import { checkRoleBinding } from "./role-binding-rules.ts";

/** Role bindings. The published message has no term, so only RoleBindingTermsService sets one. */
export const roleBinding = defineResource<typeof RoleBindingSchema, RoleBindingRow, keyof Term>({
  schema: RoleBindingSchema,
  plural: "roleBindings",
  collection: roleBindingCollection,
  orderable: roleOrders,
  rules: {},
  check: checkRoleBinding,
  toMessage: ({ uid, identityUid, roleUid }): RoleBinding => ({
    $typeName: "chainguard.platform.iam.v2beta1.RoleBinding",
    uid,
    identityUid,
    roleUid,
  }),
  toRow: ({ identityUid, roleUid }) => ({ identityUid, roleUid }),
});

/** Returns the standard methods of role bindings. */
export const bindingMethods = (context: ServiceContext) => standardMethods(roleBinding, groupParents, context);

/** The standard methods of role bindings. */
export type BindingMethods = ReturnType<typeof bindingMethods>;
