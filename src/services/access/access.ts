// Explains why a call is allowed or denied, without revealing what the caller cannot see.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import {
  AccessReason,
  AccessService,
  type BindingExplanationSchema,
  type ExplainAccessRequest,
  type ExplainAccessResponseSchema,
  ExplainExchangeRequestSchema,
} from "../../../gen/gatehouse/access/v1/access_pb.ts";
import { invalidField } from "../../aip/errors.ts";
import { maxBearerLength } from "../../authn/bearer.ts";
import { isBuiltInRole } from "../../authz/built-in-roles.ts";
import { type CapabilityInfo, findCapabilityByName, hasCapability } from "../../model/capabilities.ts";
import type { GrantedRole } from "../../model/grants.ts";
import { isUid, isWithin, rootOf } from "../../model/uid.ts";
import { accessOf, callerOf, requireCapability } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import { type Handlers, type Implementation, implement } from "../../pipeline/handlers.ts";
import type { TextRule } from "../../pipeline/text-rules.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import type { Session } from "../../storage/engine/session.ts";
import { effectiveGroup, findBindingsReaching, type ReachingBinding } from "../../storage/iam/grants.ts";
import { findActiveMappedRoles } from "../iam/delegations/active-delegations.ts";

type Explanation = MessageInitShape<typeof ExplainAccessResponseSchema>;

/** The maximum number of bindings that an explanation reads. */
const maxBindings = 100;

/** What explanations need. */
export type AccessContext = Pick<ServiceContext, "database"> & Pick<Handlers<typeof AccessService>, "explainExchange">;

/** Serves explanations of access and of exchanges. */
export function access({ database, explainExchange }: AccessContext): Implementation {
  return implement(
    AccessService,
    {
      async explainAccess(request, call) {
        const { identity, capability } = readRequest(request, call);
        const isSelf = identity === callerOf(call).uid;
        if (!isSelf) requireCapability(call, Capability.CAP_IAM_ROLE_BINDINGS_LIST, request.group);
        // Checked before reading: a narrowed token must not reveal what else its identity holds.
        if (isSelf && isBeyondToken(call, capability, request.group)) return narrowed;
        const { group } = request;
        const question = await database.read(async (session) => {
          const bindings = await findBindingsReaching(session, identity, group, maxBindings);
          const mapped = isSelf ? await mappedAt(session, callerOf(call).token.mappings, group) : [];
          return { identity, capability, group, bindings, mapped };
        });
        return explain(question, call, isSelf);
      },
      explainExchange,
    },
    [{ schema: ExplainExchangeRequestSchema, fields: { token: tokenRule } }],
  );
}

/** The length limit of subject tokens. */
const tokenRule: TextRule = {
  test: (text) => text !== "" && text.length <= maxBearerLength,
  description: `is required, and must be at most ${maxBearerLength} characters long`,
  maxLength: maxBearerLength,
};

const narrowed: Explanation = { granted: false, reason: AccessReason.TOKEN_NARROWED };

function readRequest({ identity, group, capability }: ExplainAccessRequest, call: Call) {
  if (identity !== "" && !isUid(identity)) throw invalidField("identity", "must be a uid");
  if (!isUid(group)) throw invalidField("group", "must be a uid");
  const known = findCapabilityByName(capability);
  if (!known) throw invalidField("capability", "must be the name of a capability, such as groups.list");
  return { identity: identity || callerOf(call).uid, capability: known };
}

function isBeyondToken(call: Call, capability: CapabilityInfo, group: string): boolean {
  const { scopes, capabilities } = callerOf(call).token.narrowing;
  if (scopes && !scopes.some((scope) => isWithin(group, scope))) return true;
  return capabilities !== undefined && !hasCapability(capabilities, capability.number);
}

/** Returns the roles in a group that the session holds through mappings of the organization. */
async function mappedAt(session: Session, mappings: readonly string[] = [], group: string): Promise<GrantedRole[]> {
  const uids = mappings.filter((each) => isWithin(each, rootOf(group)));
  return (await findActiveMappedRoles(session, uids)).filter(({ groupUid }) => isWithin(group, groupUid));
}

interface Question {
  readonly identity: string;
  readonly capability: CapabilityInfo;
  readonly group: string;
  readonly bindings: readonly ReachingBinding[];
  readonly mapped: readonly GrantedRole[];
}

function explain(
  { identity, capability, group, bindings, mapped }: Question,
  call: Call,
  isSelf: boolean,
): Explanation {
  const { number } = capability;
  const shown = (chosen: readonly ReachingBinding[]) => chosen.map((binding) => show(binding, call, isSelf));
  const granting = bindings.filter(({ capabilities }) => capabilities.includes(number));
  const lacking = bindings.filter((binding) => !granting.includes(binding));
  const granted = granting.length > 0 || mapped.some(({ capabilities }) => capabilities.includes(number));
  const reason = granted ? AccessReason.GRANTED : reasonAgainst(identity, group, lacking.length > 0);
  return { granted, reason, granting: shown(granting), lacking: shown(lacking) };
}

function reasonAgainst(identity: string, group: string, holdsOtherRoles: boolean): AccessReason {
  if (holdsOtherRoles) return AccessReason.ROLE_LACKS_CAPABILITY;
  return effectiveGroup(identity, group) === group ? AccessReason.NO_BINDING : AccessReason.IDENTITY_CONFINED;
}

/**
 * Shows the parts of a binding that the caller may see. The group of a binding on an ancestor is always shown. Its role is shown only
 * to callers who may list the bindings there.
 */
function show(
  binding: ReachingBinding,
  call: Call,
  isSelf: boolean,
): MessageInitShape<typeof BindingExplanationSchema> {
  const { uid, groupUid, groupName, roleUid, roleName } = binding;
  const may = (capability: Capability, place: string) => accessOf(call).has(capability, place);
  const isOpen = isSelf || may(Capability.CAP_IAM_ROLE_BINDINGS_LIST, groupUid);
  const showsRole = isOpen && (isBuiltInRole(roleUid) || isSelf || may(Capability.CAP_IAM_ROLES_LIST, roleUid));
  return {
    groupUid,
    groupName: isOpen && may(Capability.CAP_IAM_GROUPS_LIST, groupUid) ? groupName : "",
    roleBindingUid: isOpen ? uid : "",
    roleUid: isOpen ? roleUid : "",
    roleName: showsRole ? roleName : "",
  };
}
