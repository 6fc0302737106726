// Lists where an identity holds which role.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import {
  type HeldRoleSchema,
  type WhatCanRequest,
  WhatCanRequestSchema,
  type WhatCanResponseSchema,
} from "../../../gen/gatehouse/access/v1/access_pb.ts";
import type { Narrowing } from "../../authn/caller.ts";
import { outermost } from "../../authz/access.ts";
import {
  capabilityNames,
  capabilitySet,
  findCapabilityByName,
  intersectCapabilities,
} from "../../model/capabilities.ts";
import { activeRoles, hasTerm } from "../../model/grants.ts";
import { isWithin } from "../../model/uid.ts";
import { accessOf, callerOf, requireCapability } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import { type MessageRules, uidRule } from "../../pipeline/text-rules.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import type { Session } from "../../storage/engine/session.ts";
import { effectiveGroup, groupInForce, type ReachingBinding } from "../../storage/iam/grants.ts";
import { countHeldRoles, findHeldRoles, findRolesOf, type HeldRoleQuery } from "../../storage/iam/held-roles.ts";
import { findSessionRoles } from "../iam/delegations/active-delegations.ts";
import { termStateAt } from "../iam/role-bindings/term-state.ts";
import { askedTime } from "./asked-time.ts";
import { capabilityRule, isBeyondToken, rolesWith } from "./capability-rule.ts";
import { accessPages } from "./pages.ts";
import { showBinding } from "./shown-binding.ts";

export const whatCanRules: MessageRules = {
  schema: WhatCanRequestSchema,
  fields: { identity: uidRule, capability: capabilityRule, group: uidRule },
};

type Shown = MessageInitShape<typeof HeldRoleSchema>;

/** Makes the function that lists what an identity may do, and where. */
export function whatCan(context: ServiceContext) {
  const pages = accessPages(context, "role_binding_uid");
  return async (request: WhatCanRequest, call: Call): Promise<MessageInitShape<typeof WhatCanResponseSchema>> => {
    const page = pages.read(request, call);
    const { uid } = callerOf(call);
    const identityUid = request.identity || uid;
    const isSelf = identityUid === uid;
    const scope = isSelf ? callerOf(call).token.narrowing.scopes : listableScope(identityUid, call);
    return await context.database.read(async (session) => {
      const narrowing = isSelf ? callerOf(call).token.narrowing : {};
      const roleUids = await findWanted(session, request.capability, identityUid, narrowing);
      const time = askedTime(session, request.time);
      const query: HeldRoleQuery = { identityUid, scope: scopeWithin(request.group, scope), roleUids, time };
      const found = await findHeldRoles(session, query, { ...page, limit: page.size + 1 });
      const shown = found.slice(0, page.size);
      return {
        roles: shown.map((binding) =>
          show(binding, { identityUid, narrowing, time }, showBinding(binding, call, isSelf)),
        ),
        nextPageToken: found.length > shown.length ? pages.next(page, shown.at(-1)?.uid) : "",
        totalCount: BigInt(await countHeldRoles(session, query)),
        skipped: page.skip,
        mappedRoles: isSelf && page.after === "" ? await mappedRoles(session, request, time, call) : [],
      };
    });
  };
}

/** Returns the roles of the identity that have a capability; undefined for all. */
async function findWanted(session: Session, capability: string, identityUid: string, narrowing: Narrowing) {
  if (capability === "") return undefined;
  return isBeyondToken(capability, narrowing) ? [] : rolesWith(capability, await findRolesOf(session, identityUid));
}

/** Returns the parts of a scope in a group; the outermost ones of the scope without a group, and undefined for no limit at all. */
function scopeWithin(groupUid: string, scope: readonly string[] | undefined): readonly string[] | undefined {
  if (groupUid === "") return scope && outermost(scope);
  return narrowedPlaces(groupUid, scope ? { scopes: scope } : {});
}

/** Returns where the caller may list role bindings. Throws if that is nowhere. */
function listableScope(identityUid: string, call: Call): readonly string[] {
  const scope = accessOf(call).scope([Capability.CAP_IAM_ROLE_BINDINGS_LIST]);
  if (scope.length === 0) requireCapability(call, Capability.CAP_IAM_ROLE_BINDINGS_LIST, identityUid);
  return scope;
}

/** The holder of shown roles, by a token and at a time. */
interface Holder {
  readonly identityUid: string;
  readonly narrowing: Narrowing;
  readonly time: number;
}

function show(binding: ReachingBinding, { identityUid, narrowing, time }: Holder, shown: Shown["binding"]): Shown {
  const { groupUid, capabilities, isSuspended } = binding;
  const effective = groupInForce(identityUid, binding, time);
  const places = effective === undefined ? [] : narrowedPlaces(effective, narrowing);
  return {
    ...(shown && { binding: shown }),
    effectiveGroupUids: places,
    capabilities: places.length === 0 ? [] : narrowedNames(capabilities, narrowing),
    confined: effectiveGroup(identityUid, groupUid) !== groupUid,
    suspended: isSuspended,
    ...(hasTerm(binding) && { state: termStateAt(binding, time) }),
  };
}

/** Returns the parts of a subtree in which a token is valid. */
function narrowedPlaces(groupUid: string, { scopes }: Narrowing): string[] {
  if (!scopes) return [groupUid];
  if (scopes.some((scope) => isWithin(groupUid, scope))) return [groupUid];
  return [...outermost(scopes.filter((scope) => isWithin(scope, groupUid)))];
}

function narrowedNames(numbers: readonly number[], { capabilities }: Narrowing): string[] {
  const set = capabilitySet(numbers);
  return capabilityNames(capabilities ? intersectCapabilities(set, capabilities) : set);
}

/** Returns the roles that the caller's session holds by mappings. */
async function mappedRoles(
  session: Session,
  { capability, group }: WhatCanRequest,
  time: number,
  call: Call,
): Promise<Shown[]> {
  const { uid, token } = callerOf(call);
  const { narrowing, mappings } = token;
  const number = findCapabilityByName(capability)?.number;
  if (isBeyondToken(capability, narrowing)) return [];
  const { roles } = await findSessionRoles(session, uid, mappings, time);
  return activeRoles(roles, time)
    .filter(({ capabilities }) => number === undefined || capabilities.includes(number))
    .filter(({ groupUid }) => group === "" || isWithin(groupUid, group) || isWithin(group, groupUid))
    .map(({ groupUid, capabilities }) => ({
      effectiveGroupUids: narrowedPlaces(groupUid, narrowing),
      capabilities: narrowedNames(capabilities, narrowing),
    }))
    .filter(({ effectiveGroupUids }) => effectiveGroupUids.length > 0);
}
