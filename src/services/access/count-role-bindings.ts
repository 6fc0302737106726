// Counts how often roles are used.
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type CountRoleBindingsRequest,
  CountRoleBindingsRequestSchema,
  type CountRoleBindingsResponseSchema,
} from "../../../gen/gatehouse/access/v1/access_pb.ts";
import { invalidField } from "../../aip/errors.ts";
import { maxPageSize } from "../../aip/pagination.ts";
import { type MessageRules, uidRule } from "../../pipeline/text-rules.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import { countBindingsOf } from "../../storage/iam/role-bindings.ts";

/** A page of roles can be counted by one call. */
const maxRoles = maxPageSize;

export const countRules: MessageRules = {
  schema: CountRoleBindingsRequestSchema,
  fields: { group: uidRule, roles: uidRule },
  bounds: { roles: { maxItems: maxRoles } },
};

/** Makes the function that counts the role bindings of roles. */
export function countRoleBindings({ database }: Pick<ServiceContext, "database">) {
  return async ({
    group,
    roles,
  }: CountRoleBindingsRequest): Promise<MessageInitShape<typeof CountRoleBindingsResponseSchema>> => {
    if (roles.length > maxRoles) throw invalidField("roles", `must not have more than ${maxRoles} items`);
    const found = await database.read((session) => countBindingsOf(session, [...new Set(roles)], group));
    return { counts: roles.map((role) => ({ role, count: BigInt(found.get(role) ?? 0) })) };
  };
}
