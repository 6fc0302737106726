// Callers who vouch for what others have made.
import { failedPrecondition } from "../../../aip/errors.ts";
import { capabilitySet } from "../../../model/capabilities.ts";
import { accessOf, callerOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { identityCollection } from "../../../storage/iam/collections.ts";
import { type Delegation, findRoleCapabilities, vouch } from "../../../storage/iam/delegations.ts";
import { hasStaticKeys, subscriptionCapabilities } from "../../../storage/iam/vouchers.ts";
import { requireHeld } from "../rules/escalation.ts";
import { inactivityOf } from "./active-delegations.ts";
import { findGiven, type Given } from "./delegated-roles.ts";

/**
 * Makes the caller vouch for something. Throws PERMISSION_DENIED unless they hold all that it gives, and FAILED_PRECONDITION where
 * they hold it by that alone.
 */
export async function confirm(tx: Transaction, { kind, uid }: Delegation, given: Given, call: Call): Promise<void> {
  for (const { groupUid, capabilities } of given.roles) requireHeld(call, capabilities, groupUid, "confirming it");
  await vouch(tx, kind, uid, await promiseOf(tx, kind, given));
  // Sessions may hold roles by a mapping that is vouched for now.
  tx.changeAccess();
  if (await inactivityOf(tx, kind, uid)) {
    const { uid: callerUid } = callerOf(call);
    throw failedPrecondition(
      "VOUCHES_FOR_ITSELF",
      `identity ${callerUid} holds what this gives by this alone; another identity must confirm it`,
      uid,
    );
  }
}

/**
 * A caller who binds a role to an identity with static keys gives the role to anyone who knows the keys. Where the maker of the keys does not hold
 * the role, and the caller holds all that the identity holds, the caller vouches for the keys from now on.
 */
export async function adoptKeys(tx: Transaction, identityUid: string, call: Call): Promise<void> {
  const identity = await findRow(tx, identityCollection, identityUid);
  if (!identity || !hasStaticKeys(identity) || callerOf(call).uid === identityUid) return;
  const inactivity = await inactivityOf(tx, "identities", identityUid);
  if (inactivity?.reason !== "MAKER_LACKS_CAPABILITIES") return;
  const { roles = [] } = (await findGiven(tx, "identities", identityUid)) ?? {};
  const access = accessOf(call);
  const isHeld = roles.every(
    ({ groupUid, capabilities }) => access.missing(capabilitySet(capabilities), groupUid).length === 0,
  );
  if (isHeld) await vouch(tx, "identities", identityUid, []);
}

async function promiseOf(tx: Transaction, kind: Delegation["kind"], { roleUid }: Given): Promise<readonly number[]> {
  if (roleUid !== "") return await findRoleCapabilities(tx, roleUid);
  return kind === "subscriptions" ? subscriptionCapabilities : [];
}
