// Says who may do what and why, and what a change of access would do.
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  AccessService,
  type CountRoleBindingsRequest,
  CountRoleBindingsRequestSchema,
  type CountRoleBindingsResponseSchema,
  ExplainExchangeRequestSchema,
} from "../../../gen/gatehouse/access/v1/access_pb.ts";
import { invalidField } from "../../aip/errors.ts";
import { maxPageSize } from "../../aip/pagination.ts";
import { maxBearerLength } from "../../authn/bearer.ts";
import { allExpensive } from "../../pipeline/expensive.ts";
import { type Handlers, type Implementation, implement } from "../../pipeline/handlers.ts";
import { type MessageRules, type TextRule, uidRule } from "../../pipeline/text-rules.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import { countBindingsOf } from "../../storage/iam/role-bindings.ts";
import { listCapabilities } from "./capabilities/list-capabilities.ts";
import { batchRules, explanations } from "./explain.ts";
import { listPeople, peopleRules } from "./list-people.ts";
import { changeValidator, simulateChange } from "./simulate.ts";
import { whatCan, whatCanRules } from "./what-can.ts";
import { whoCan, whoCanRules } from "./who-can.ts";

/** The dependencies of the access service. */
export type AccessContext = ServiceContext & Pick<Handlers<typeof AccessService>, "explainExchange">;

/** Serves questions about access and about exchanges. */
export function access(context: AccessContext): Implementation {
  const { explainExchange } = context;
  const lists = { whoCan: whoCan(context), whatCan: whatCan(context) };
  const counts = { countRoleBindings: countRoleBindings(context), listPeople: listPeople(context) };
  const implementation = implement(
    AccessService,
    {
      ...allExpensive({ ...explanations(context), ...lists, ...counts, simulateChange: simulateChange(context) }),
      listCapabilities: listCapabilities(context),
      explainExchange,
    },
    [
      batchRules,
      whoCanRules,
      whatCanRules,
      countRules,
      peopleRules,
      { schema: ExplainExchangeRequestSchema, fields: { token: tokenRule } },
    ],
  );
  return { ...implementation, validators: { simulateChange: changeValidator() } };
}

/** The length limit of subject tokens. */
const tokenRule: TextRule = {
  test: (text) => text !== "" && text.length <= maxBearerLength,
  description: `is required, and must be at most ${maxBearerLength} characters long`,
  maxLength: maxBearerLength,
};

/** A page of roles can be counted by one call. */
const maxRoles = maxPageSize;

const countRules: MessageRules = {
  schema: CountRoleBindingsRequestSchema,
  fields: { group: uidRule, roles: uidRule },
  bounds: { roles: { maxItems: maxRoles } },
};

/** Makes the function that counts the role bindings of roles. */
function countRoleBindings({ database }: Pick<ServiceContext, "database">) {
  return async ({
    group,
    roles,
  }: CountRoleBindingsRequest): Promise<MessageInitShape<typeof CountRoleBindingsResponseSchema>> => {
    if (roles.length > maxRoles) throw invalidField("roles", `must not have more than ${maxRoles} items`);
    const found = await database.read((session) => countBindingsOf(session, [...new Set(roles)], group));
    return { counts: roles.map((role) => ({ role, count: BigInt(found.get(role) ?? 0) })) };
  };
}
