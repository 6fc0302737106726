// Delegations that are not in force, such as the invites of people who have left.
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { DelegationKind as Kind } from "../../../gen/gatehouse/iam/v1/delegations_pb.ts";
import { FindingKind } from "../../../gen/gatehouse/organizations/v1/findings_pb.ts";
import { parentOf } from "../../model/uid.ts";
import type { Call } from "../../pipeline/call.ts";
import type { Session } from "../../storage/engine/session.ts";
import { identityShower } from "../access/shown-identities.ts";
import { type ShownDelegation, withNames } from "../iam/delegations/delegation-names.ts";
import { findInactiveDelegations } from "../iam/delegations/delegations-service.ts";
import { type FindingParts, type FindingSource, scanOfFound } from "./finding-kind.ts";

/** Invites, subscriptions, default roles, SCIM tokens, mappings and static keys whose makers no longer hold what they give. */
export const inactiveDelegations: FindingSource = {
  kind: FindingKind.INACTIVE_DELEGATION,
  capability: Capability.CAP_IAM_ROLE_BINDINGS_LIST,
  async startScan(session, subtrees, _now, call) {
    const { shown: found, isWhole } = await findInactiveDelegations(session, subtrees, call);
    return scanOfFound({
      found,
      isWhole,
      cursorOf,
      show: async (some, caller) => await showAll(session, await withNames(session, some, caller), caller),
    });
  },
};

// An identity provider has two delegations: of its default role and of its SCIM token. A space sorts before the slash of a uid.
function cursorOf({ uid = "", kind = Kind.UNSPECIFIED }: ShownDelegation): string {
  return `${uid} ${kind}`;
}

/** Shows delegations with their names as findings. */
export async function showAll(
  session: Session,
  delegations: readonly ShownDelegation[],
  call: Call,
): Promise<FindingParts[]> {
  const makers = delegations.flatMap(({ makerUid }) => makerUid || []);
  // All of them are in one organization.
  const identityOf = await identityShower(session, makers, delegations[0]?.uid ?? "", call);
  return delegations.map((delegation) => {
    const { uid = "", kind = Kind.UNSPECIFIED, makerUid, vouchTime, name = "" } = delegation;
    return {
      resourceUid: uid,
      resourceName: name,
      groupUid: groupOf(uid, kind),
      ...(vouchTime && { time: vouchTime }),
      ...(makerUid && { identity: identityOf(makerUid) }),
      details: { case: "delegation", value: delegation },
    };
  });
}

/** Returns the group of a delegation. A mapping belongs to an identity provider, and that to a group. */
function groupOf(uid: string, kind: Kind): string {
  return kind === Kind.EXTERNAL_GROUP_ROLE_MAPPING ? parentOf(parentOf(uid)) : parentOf(uid);
}
