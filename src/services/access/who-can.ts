// Lists the identities with access to a group.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import {
  type IdentityAccessSchema,
  type WhoCanRequest,
  WhoCanRequestSchema,
  type WhoCanResponseSchema,
} from "../../../gen/gatehouse/access/v1/access_pb.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import { Access } from "../../authz/access.ts";
import { combineRoles } from "../../authz/grants.ts";
import { capabilityNames } from "../../model/capabilities.ts";
import { nextBoundary } from "../../model/grants.ts";
import { ancestorsOf, isWithin } from "../../model/uid.ts";
import { accessOf, callerOf, isNarrowed } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import { type MessageRules, uidRule } from "../../pipeline/text-rules.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import type { Session } from "../../storage/engine/session.ts";
import { effectiveGroup, groupInForce } from "../../storage/iam/grants.ts";
import {
  countHolders,
  findBindingsAt,
  findHolders,
  findRolesAt,
  type HolderBinding,
  type HolderQuery,
} from "../../storage/iam/holders.ts";
import { askedTime } from "./asked-time.ts";
import { capabilityRule, isBeyondToken, rolesWith } from "./capability-rule.ts";
import { accessPages } from "./pages.ts";
import { showBinding } from "./shown-binding.ts";
import { identityShower } from "./shown-identities.ts";

/** How many bindings of one identity are shown. */
const maxShown = 100;

/** How many bindings one call reads. The page ends before an identity with more. */
const maxRead = 10_000;

export const whoCanRules: MessageRules = {
  schema: WhoCanRequestSchema,
  fields: { group: uidRule, identity: uidRule, capability: capabilityRule },
};

type Shown = MessageInitShape<typeof IdentityAccessSchema>;

/** Makes the function that lists who has access to a group. */
export function whoCan(context: ServiceContext) {
  const pages = accessPages(context, "identity_uid");
  return async (request: WhoCanRequest, call: Call): Promise<MessageInitShape<typeof WhoCanResponseSchema>> => {
    const page = pages.read(request, call);
    return await context.database.read(async (session) => {
      const { places, unlisted, ...visible } = visiblePlaces(request.group, call);
      const { group: uid, capability, identity, withEnd, showConfined } = request;
      const roleUids = capability === "" ? undefined : rolesWith(capability, await findRolesAt(session, places));
      const time = askedTime(session, request.time);
      const { uid: self, token } = callerOf(call);
      const without = isBeyondToken(capability, token.narrowing) ? self : "";
      const query: HolderQuery = { uid, places, ...visible, identity, without, roleUids, withEnd, showConfined, time };
      const uids = await findHolders(session, query, { ...page, limit: page.size + 1 });
      const wanted = uids.slice(0, page.size);
      const holders = wholeHolders(wanted, await findBindingsAt(session, wanted, places, maxRead));
      const hasMore = holders.length < uids.length;
      return {
        identities: await showAll(session, { group: uid, time }, holders, call),
        nextPageToken: hasMore ? pages.next(page, holders.at(-1)?.identityUid) : "",
        totalCount: BigInt(await countHolders(session, query)),
        skipped: page.skip,
        unlistedGroupUids: unlisted,
      };
    });
  };
}

/** Returns the groups whose role bindings apply at a uid, and at which of them the caller sees all role bindings. */
function visiblePlaces(uid: string, call: Call) {
  const access = accessOf(call);
  const line = [...ancestorsOf(uid), uid];
  const open = line.filter((place) => access.has(Capability.CAP_IAM_ROLE_BINDINGS_LIST, place));
  const unlisted = line.filter((place) => !open.includes(place));
  // Access is inherited: below this place the caller may list all identities.
  const visibleBelow = line.find((place) => access.has(Capability.CAP_IAM_IDENTITY_LIST, place)) ?? "";
  // A narrowed token must not reveal what else its identity holds.
  const self = isNarrowed(call) ? "" : callerOf(call).uid;
  return { places: line, open, unlisted, visibleBelow, self };
}

/** An identity with its bindings at the group and its ancestors. */
interface Holder {
  readonly identityUid: string;
  readonly bindings: readonly HolderBinding[];
}

/** Returns the identities whose bindings have all been read, and at least one. */
function wholeHolders(uids: readonly string[], bindings: readonly HolderBinding[]): Holder[] {
  const byIdentity = Map.groupBy(bindings, ({ identityUid }) => identityUid);
  const last = bindings.length < maxRead ? undefined : bindings.at(-1)!.identityUid;
  // The bindings come in ascending order of their identities, in either order of the page.
  const isWhole = (uid: string) => last === undefined || uid < last;
  const end = uids.findIndex((uid) => !isWhole(uid));
  const count = end < 0 ? uids.length : Math.max(end, 1);
  return uids.slice(0, count).map((uid) => ({ identityUid: uid, bindings: byIdentity.get(uid) ?? [] }));
}

/** Where and when access is asked for. */
interface Place {
  readonly group: string;
  readonly time: number;
}

async function showAll(session: Session, place: Place, holders: readonly Holder[], call: Call): Promise<Shown[]> {
  const { group, time } = place;
  const uids = holders.map(({ identityUid }) => identityUid);
  const identityOf = await identityShower(session, uids, group, call);
  return holders.map(({ identityUid, bindings }) => {
    const isSelf = identityUid === callerOf(call).uid;
    return {
      identity: identityOf(identityUid),
      capabilities: capabilityNames(heldAt(place, { identityUid, bindings }, call)),
      bindings: bindings.slice(0, maxShown).map((binding) => showBinding(binding, call, isSelf && !isNarrowed(call))),
      bindingCount: bindings.length,
      confined: !bindings.some((binding) => takesEffect(group, identityUid, binding)),
      suspended: bindings.some(({ isSuspended }) => isSuspended),
      ...untilTime(
        bindings.filter(
          ({ groupUid }) => isSelf || accessOf(call).has(Capability.CAP_IAM_ROLE_BINDINGS_LIST, groupUid),
        ),
        time,
      ),
    };
  });
}

/** Returns the next begin or end of bindings that the caller may list. */
function untilTime(bindings: readonly HolderBinding[], time: number) {
  const until = nextBoundary(bindings, time);
  return until === Number.POSITIVE_INFINITY ? {} : { untilTime: toTimestamp(until) };
}

/** Returns what the bindings give at the group. Of the caller's own, only what the token has not been narrowed to do without. */
function heldAt({ group, time }: Place, { identityUid, bindings }: Holder, call: Call) {
  const roles = bindings.flatMap((binding) => {
    const effective = groupInForce(identityUid, binding, time);
    return effective === undefined ? [] : [{ groupUid: effective, capabilities: binding.capabilities }];
  });
  const { uid, token } = callerOf(call);
  return new Access(combineRoles(roles), identityUid === uid ? token.narrowing : {}).heldAt(group);
}

function takesEffect(group: string, identityUid: string, { groupUid }: HolderBinding): boolean {
  const effective = effectiveGroup(identityUid, groupUid);
  return effective !== undefined && isWithin(group, effective);
}
