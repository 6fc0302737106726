// Says what an organization and a person lose when the person is removed.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RemoveMemberResponseSchema } from "../../../../gen/gatehouse/iam/v1/memberships_pb.ts";
import { ownerRole } from "../../../authz/built-in-roles.ts";
import { rangeBelow, rootOf } from "../../../model/uid.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { findDelegationsIn } from "../../../storage/iam/delegations.ts";
import type { Membership } from "../../../storage/iam/memberships.ts";
import { findMappingsOf, findMemberships } from "../../../storage/iam/providers.ts";
import { findGroupsWithRole } from "../../../storage/iam/role-bindings.ts";
import type { RoleBindingRow } from "../../../storage/iam/rows.ts";
import { findScimUsersByIdentity } from "../../../storage/iam/scim-users.ts";
import { newEvaluator } from "../delegations/active-delegations.ts";
import { showDelegations } from "../delegations/delegations-service.ts";
import { hydrate } from "../role-bindings/hydration.ts";
import { mayListBindings } from "../rules/readable.ts";
import { findSessions } from "./leave.ts";

/** How many role bindings are shown. */
const maxShown = 200;

/** How many delegations of the person are looked at. */
const maxDelegations = 500;

/**
 * Reads what a person has before these role bindings, all of the person in the organization, are deleted. The returned function shows what
 * is lost; call it after the deletion.
 */
export async function observeLoss(
  session: Session,
  person: Membership,
  bindings: readonly RoleBindingRow[],
  call: Call,
): Promise<() => Promise<MessageInitShape<typeof RemoveMemberResponseSchema>>> {
  const listed = bindings.filter(({ parent }) => mayListBindings(call, parent));
  const roleBindings = await hydrate(session, listed.slice(0, maxShown), call);
  const made = await findActiveDelegations(session, person, call);
  const { length: sessionCount } = await findSessions(session, person);
  const origin = await findOrigin(session, person);
  return async () => {
    const inactive = await newEvaluator(session).inactivitiesOf(made);
    const owned = listed.filter(({ roleUid }) => roleUid === ownerRole.uid).map(({ parent }) => parent);
    const stillOwned = await findGroupsWithRole(session, owned, ownerRole.uid);
    return {
      roleBindings,
      roleBindingCount: bindings.length,
      delegations: await showDelegations(
        session,
        made.filter((_, i) => inactive[i]),
        call,
      ),
      ownerlessGroupUids: owned.filter((uid) => !stillOwned.has(uid)),
      ...origin,
      sessionCount,
    };
  };
}

/** Returns the delegations of a person that are in force and that the caller may list. */
async function findActiveDelegations(session: Session, { identityUid, groupUid }: Membership, call: Call) {
  const found = await findDelegationsIn(session, {
    range: rangeBelow(groupUid),
    makerUid: identityUid,
    limit: maxDelegations,
  });
  const listed = found.filter(({ uid }) => mayListBindings(call, uid));
  const inactive = await newEvaluator(session, listed).inactivitiesOf(listed);
  return listed.filter((_, i) => !inactive[i]);
}

/** Says whether identity providers of the organization can give the person access again. */
async function findOrigin(session: Session, { identityUid, groupUid }: Membership) {
  const isHere = ({ providerUid }: { readonly providerUid: string }) => rootOf(providerUid) === groupUid;
  const provisioned = (await findScimUsersByIdentity(session, identityUid)).filter(isHere);
  const providers = [...(await findMemberships(session, identityUid)).filter(isHere), ...provisioned];
  let mapped = false;
  for (const uid of new Set(providers.map(({ providerUid }) => providerUid)))
    mapped ||= (await findMappingsOf(session, uid, 1)).length > 0;
  return { provisioned: provisioned.length > 0, mapped };
}
