// Explains why a call is allowed or denied, without revealing what the caller cannot see.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import {
  AccessReason,
  BatchExplainAccessRequestSchema,
  type ExplainAccessRequest,
  type ExplainAccessResponseSchema,
} from "../../../gen/gatehouse/access/v1/access_pb.ts";
import { fieldViolationsOf, invalidArgument, invalidField, toApiError } from "../../aip/errors.ts";
import { type CapabilityInfo, findCapabilityByName, hasCapability } from "../../model/capabilities.ts";
import { activeRoles, type GrantedRole, isInTerm } from "../../model/grants.ts";
import { isUid, isWithin, rootOf } from "../../model/uid.ts";
import { callerOf, isNarrowed, requireCapability } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import type { MessageRules } from "../../pipeline/text-rules.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import type { Session } from "../../storage/engine/session.ts";
import { effectiveGroup, findBindingsReaching, type ReachingBinding } from "../../storage/iam/grants.ts";
import { findSuspensionsOf } from "../../storage/iam/scim-suspensions.ts";
import { findRequestableFor } from "../iam/access-requests/requestable-for.ts";
import { findSessionRoles } from "../iam/delegations/active-delegations.ts";
import { askedTime } from "./asked-time.ts";
import { showBinding } from "./shown-binding.ts";

type Explanation = MessageInitShape<typeof ExplainAccessResponseSchema>;

/** The maximum number of bindings that an explanation reads. */
const maxBindings = 100;

/** The maximum number of questions in a batch. */
const maxQuestions = 100;

/** The rules of a batch of questions. */
export const batchRules: MessageRules = {
  schema: BatchExplainAccessRequestSchema,
  fields: {},
  bounds: { requests: { maxItems: maxQuestions } },
};

/** Makes the functions that explain access. */
export function explanations({ database }: Pick<ServiceContext, "database">) {
  return {
    async explainAccess(request: ExplainAccessRequest, call: Call): Promise<Explanation> {
      const question = readQuestion(request, call);
      if (question.isBeyondToken) return narrowed;
      return await database.read(async (session) => {
        const answered = await answer(session, question, call);
        return answered.granted ? answered : { ...answered, ...(await requestable(session, question, call)) };
      });
    },

    async batchExplainAccess(
      { requests }: { readonly requests: readonly ExplainAccessRequest[] },
      call: Call,
    ): Promise<{ responses: Explanation[] }> {
      if (requests.length > maxQuestions)
        throw invalidField("requests", `must not have more than ${maxQuestions} items`);
      const questions = requests.map((request, index) => readItem(request, index, call));
      return await database.read(async (session) => {
        const responses: Explanation[] = [];
        for (const question of questions)
          responses.push(question.isBeyondToken ? narrowed : await answer(session, question, call));
        return { responses };
      });
    },
  };
}

const narrowed: Explanation = { granted: false, reason: AccessReason.TOKEN_NARROWED };

interface Question {
  readonly identity: string;
  readonly capability: CapabilityInfo;
  readonly group: string;
  readonly isSelf: boolean;
  /** Known before reading: a narrowed token must not reveal what else its identity holds. */
  readonly isBeyondToken: boolean;
  readonly time: Timestamp | undefined;
}

/** Returns the question of a request. Throws if the caller may not ask it. */
function readQuestion({ identity: named, group, capability: name, time }: ExplainAccessRequest, call: Call): Question {
  if (named !== "" && !isUid(named)) throw invalidField("identity", "must be a uid");
  if (!isUid(group)) throw invalidField("group", "must be a uid");
  const capability = findCapabilityByName(name);
  if (!capability) throw invalidField("capability", "must be the name of a capability, such as groups.list");
  const { uid } = callerOf(call);
  const identity = named || uid;
  const isSelf = identity === uid;
  if (!isSelf) requireCapability(call, Capability.CAP_IAM_ROLE_BINDINGS_LIST, group);
  return { identity, capability, group, isSelf, time, isBeyondToken: isSelf && isBeyondToken(call, capability, group) };
}

/** Reads a question of a batch. A violation names its place in the batch. */
function readItem(request: ExplainAccessRequest, index: number, call: Call): Question {
  try {
    return readQuestion(request, call);
  } catch (error) {
    const violations = fieldViolationsOf(toApiError(error));
    if (!violations) throw error;
    throw invalidArgument(
      violations.map(({ field, description }) => ({ field: `requests[${index}].${field}`, description })),
    );
  }
}

function isBeyondToken(call: Call, capability: CapabilityInfo, group: string): boolean {
  const { scopes, capabilities } = callerOf(call).token.narrowing;
  if (scopes && !scopes.some((scope) => isWithin(group, scope))) return true;
  return capabilities !== undefined && !hasCapability(capabilities, capability.number);
}

async function answer(session: Session, question: Question, call: Call): Promise<Explanation> {
  const { identity, capability, group, isSelf } = question;
  const time = askedTime(session, question.time);
  const bindings = await findBindingsReaching(session, identity, group, maxBindings);
  const mapped = isSelf ? await mappedAt(session, identity, group, time, callerOf(call).token.mappings) : [];
  const { number } = capability;
  const shown = (chosen: readonly ReachingBinding[]) => chosen.map((binding) => showBinding(binding, call, isSelf));
  const able = bindings.filter(({ capabilities }) => capabilities.includes(number));
  const granting = able.filter((binding) => isInTerm(binding, time));
  const outOfTerm = able.filter((binding) => !granting.includes(binding));
  const lacking = bindings.filter((binding) => !able.includes(binding) && isInTerm(binding, time));
  const granted = granting.length > 0 || mapped.some(({ capabilities }) => capabilities.includes(number));
  const reason = granted
    ? AccessReason.GRANTED
    : (reasonOfTerms(outOfTerm, time) ?? (await reasonAgainst(session, identity, group, lacking.length > 0)));
  return { granted, reason, granting: shown(granting), lacking: shown(lacking), outOfTerm: shown(outOfTerm) };
}

/** Returns what a caller who asks about themselves can request to hold the capability. */
async function requestable(session: Session, { capability, group, isSelf, time }: Question, call: Call) {
  if (!isSelf || time !== undefined || isNarrowed(call)) return {};
  const { ruleUids, roleUids } = await findRequestableFor(session, capability.number, group, call);
  return { requestableRuleUids: [...ruleUids], requestableRoleUids: [...roleUids] };
}

/** Returns the roles in a group that the session holds through mappings of the organization. */
async function mappedAt(
  session: Session,
  identityUid: string,
  group: string,
  time: number,
  mappings: readonly string[] = [],
): Promise<GrantedRole[]> {
  const uids = mappings.filter((each) => isWithin(each, rootOf(group)));
  const { roles } = await findSessionRoles(session, identityUid, uids, time);
  return activeRoles(roles, time).filter(({ groupUid }) => isWithin(group, groupUid));
}

/** Returns why bindings with the capability do not grant it at a time: a coming one is worth more to know than one that has ended. */
function reasonOfTerms(bindings: readonly ReachingBinding[], time: number): AccessReason | undefined {
  if (bindings.length === 0) return undefined;
  const isComing = bindings.some(({ startTime }) => startTime !== null && startTime > time);
  return isComing ? AccessReason.TERM_NOT_STARTED : AccessReason.TERM_ENDED;
}

async function reasonAgainst(session: Session, identity: string, group: string, holdsOtherRoles: boolean) {
  if (holdsOtherRoles) return AccessReason.ROLE_LACKS_CAPABILITY;
  const suspensions = await findSuspensionsOf(session, identity);
  if (suspensions.some((provider) => rootOf(provider) === rootOf(group))) return AccessReason.IDENTITY_SUSPENDED;
  return effectiveGroup(identity, group) === group ? AccessReason.NO_BINDING : AccessReason.IDENTITY_CONFINED;
}
