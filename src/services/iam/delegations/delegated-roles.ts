// Reads the roles that a delegation gives at present.

import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { Access } from "../../../authz/access.ts";
import { ownerRole } from "../../../authz/built-in-roles.ts";
import { combineRoles } from "../../../authz/grants.ts";
import type { MaybePromise } from "../../../base/maybe-promise.ts";
import { capabilitySet } from "../../../model/capabilities.ts";
import { type GrantedRole, noTerm, type TimedRole } from "../../../model/grants.ts";
import type { Call } from "../../../pipeline/call.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { subscriptionCollection } from "../../../storage/events/rows.ts";
import {
  externalGroupRoleMappingCollection,
  groupInviteCollection,
  identityProviderCollection,
} from "../../../storage/iam/collections.ts";
import { type DelegationKind, findRoleCapabilities } from "../../../storage/iam/delegations.ts";
import { findFoundedOrganizations } from "../../../storage/iam/founding-bindings.ts";
import { findGrants } from "../../../storage/iam/grants.ts";
import { findMappedRoles } from "../../../storage/iam/providers.ts";
import { accessRequestRuleCollection } from "../../../storage/iam/requests/collections.ts";
import { accessReviewCollection, endingCapabilities } from "../../../storage/iam/reviews/collections.ts";
import { subscriptionCapabilities } from "../../../storage/iam/vouchers.ts";
import { isReadableRole, mayListBindings } from "../rules/readable.ts";

/** The capabilities that it takes to give a role. */
const bindingCapabilities: readonly number[] = [Capability.CAP_IAM_ROLE_BINDINGS_CREATE];

/** The roles that a delegation gives. Only those of an identity with static keys can have terms. */
export interface Given {
  readonly roles: readonly TimedRole[];
  /** The uid of the role; empty if it gives none or several. */
  readonly roleUid: string;
}

/** Reads the capabilities of a role. */
export type CapabilitiesOf = (roleUid: string) => MaybePromise<readonly number[]>;

/** Returns the roles that a delegation gives, or undefined if it does not exist. */
export async function findGiven(
  session: Session,
  kind: DelegationKind,
  uid: string,
  capabilitiesOf: CapabilitiesOf = (roleUid) => findRoleCapabilities(session, roleUid),
): Promise<Given | undefined> {
  switch (kind) {
    case "group_invites": {
      const row = await findRow(session, groupInviteCollection, uid);
      return row && (await givenRole(capabilitiesOf, row.roleUid, row.parent));
    }
    case "external_group_role_mappings": {
      const row = await findRow(session, externalGroupRoleMappingCollection, uid);
      return row && (await givenRole(capabilitiesOf, row.roleUid, row.scope));
    }
    case "scim_tokens": {
      // The bearer of the token decides who is in the mapped groups, so its maker must hold all that they give.
      const row = await findRow(session, identityProviderCollection, uid);
      if (!row) return undefined;
      const { roles, roleUid } = await givenRole(capabilitiesOf, row.defaultRole, row.parent);
      const mapped: TimedRole[] = [];
      for (const { roleUid: each, scope } of await findMappedRoles(session, uid))
        mapped.push(...(await givenRole(capabilitiesOf, each, scope)).roles);
      return { roles: [...roles, ...mapped], roleUid };
    }
    case "identity_providers": {
      const row = await findRow(session, identityProviderCollection, uid);
      return row && (await givenRole(capabilitiesOf, row.defaultRole, row.parent));
    }
    case "subscriptions": {
      const row = await findRow(session, subscriptionCollection, uid);
      const role = row && { groupUid: row.parent, capabilities: subscriptionCapabilities };
      return role && { roles: [{ role, ...noTerm }], roleUid: "" };
    }
    case "access_request_rules": {
      const row = await findRow(session, accessRequestRuleCollection, uid);
      if (!row) return undefined;
      // Its maker gives roles by it, and so must be able to bind roles.
      const roles: TimedRole[] = [{ role: { groupUid: row.parent, capabilities: bindingCapabilities }, ...noTerm }];
      for (const roleUid of row.roleUids) roles.push(...(await givenRole(capabilitiesOf, roleUid, row.parent)).roles);
      return { roles, roleUid: "" };
    }
    case "access_reviews": {
      const row = await findRow(session, accessReviewCollection, uid);
      const role = row && { groupUid: row.parent, capabilities: endingCapabilities };
      return role && { roles: [{ role, ...noTerm }], roleUid: "" };
    }
    case "identities": {
      const holder = await findGrants(session, uid);
      return holder && { roles: await rolesBeyondFounded(session, uid, holder.roles), roleUid: "" };
    }
  }
}

/** Whether the caller may know what a delegation gives: an identity can hold roles in organizations that the caller does not know. */
export function mayReadGiven({ roles, roleUid }: Given, call: Call): boolean {
  return (
    roles.every(({ role: { groupUid } }) => mayListBindings(call, groupUid)) &&
    (roleUid === "" || roles.every(({ role: { groupUid } }) => isReadableRole(roleUid, groupUid, call)))
  );
}

/** Returns the roles that need the authority of another identity: all but what an identity holds as the owner of organizations it created. */
async function rolesBeyondFounded(session: Session, identityUid: string, roles: readonly TimedRole[]) {
  const founded = await findFoundedRoles(session, identityUid);
  if (founded.length === 0) return roles;
  const owned = new Access(combineRoles(founded), {});
  return roles.filter(
    ({ role: { groupUid, capabilities } }) => owned.missing(capabilitySet(capabilities), groupUid).length > 0,
  );
}

/** Returns the owner roles of an identity in the organizations that it created. */
export async function findFoundedRoles(session: Session, identityUid: string): Promise<GrantedRole[]> {
  const founded = await findFoundedOrganizations(session, identityUid);
  return founded.map((groupUid) => ({ groupUid, capabilities: ownerRole.capabilities }));
}

async function givenRole(capabilitiesOf: CapabilitiesOf, roleUid: string, groupUid: string): Promise<Given> {
  return { roles: [{ role: { groupUid, capabilities: await capabilitiesOf(roleUid) }, ...noTerm }], roleUid };
}
