// Finds the owners of an organization who can get a token now without help: one of them must stay (docs/decisions/0035).
import { ownerRole } from "../../../authz/built-in-roles.ts";
import { rootOf } from "../../../model/uid.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { findDelegation } from "../../../storage/iam/delegations.ts";
import { findRootHolders, type RootHolder } from "../../../storage/iam/role-bindings.ts";
import { suspendedOrganizations } from "../../../storage/iam/scim-suspensions.ts";
import { staticKeysExpiry } from "../../../sts/static-keys-expiry.ts";
import { isUserUid, userUidsOf } from "../users/user-uid.ts";
import { canSignIn } from "./sign-in-ways.ts";

/** How many owners are read at once. */
const batchSize = 50;

/** Keys that end sooner do not count, in milliseconds: their owner could not bind another one in time. */
const shortestKeyLifeMs = 24 * 60 * 60 * 1000;

/** The time at which owners are looked for, and the rows that do not count. */
export interface OwnerQuery {
  /** In milliseconds since the epoch. */
  readonly now: number;
  /** The uid of a role binding that does not count. */
  readonly withoutBinding?: string;
  /** The uid of an identity provider by which nobody can sign in. */
  readonly withoutProvider?: string | undefined;
}

/** Whether an organization has an owner who can get a token now. */
export async function hasReachableOwner(session: Session, groupUid: string, query: OwnerQuery): Promise<boolean> {
  for (let after = ""; ; ) {
    const holders = await findRootHolders(session, { groupUid, roleUid: ownerRole.uid, after, limit: batchSize });
    for (const holder of holders)
      if (holder.bindingUid !== query.withoutBinding && (await isReachable(session, groupUid, holder, query)))
        return true;
    if (holders.length < batchSize) return false;
    after = holders.at(-1)!.bindingUid;
  }
}

/**
 * Whether an owner can get a token now, and for a day. Static keys that another identity vouches for do not count: that identity is an owner, too, or
 * gets this right from one. A pattern counts, because it may match others.
 */
export async function isReachable(
  session: Session,
  groupUid: string,
  { identity, isFounder }: Pick<RootHolder, "identity" | "isFounder">,
  { now, withoutProvider }: OwnerQuery,
): Promise<boolean> {
  const { uid, issuer, subject, createTime } = identity;
  const { relationship } = identity;
  switch (relationship.case) {
    case "claimMatch": {
      if (issuer === "" || subject === "") return true;
      const suspended = await suspendedOrganizations(session, ...userUidsOf(issuer, subject));
      if (suspended.has(groupUid)) return false;
      // The own organization of the identity may deactivate the person at any time.
      return isFounder || rootOf(uid) === groupUid || !suspended.has(rootOf(uid));
    }
    case "staticKeys": {
      const { expirationTime: end } = relationship.value as { readonly expirationTime?: string };
      if (staticKeysExpiry(end === undefined ? end : Date.parse(end), createTime) <= now + shortestKeyLifeMs)
        return false;
      return isFounder || (await findDelegation(session, "identities", uid))?.isInstallation === true;
    }
    case "awsIdentity":
      return true;
    default:
      // A service principal is assumed by no token.
      if (!isUserUid(uid) || (await suspendedOrganizations(session, uid)).has(groupUid)) return false;
      return await canSignIn(session, { uid, issuer }, { groupUid, withoutProvider });
  }
}
