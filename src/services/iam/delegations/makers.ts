// Callers become makers of existing delegations.
import { failedPrecondition } from "../../../aip/errors.ts";
import { capabilitySet } from "../../../model/capabilities.ts";
import { activeRoles } from "../../../model/grants.ts";
import { accessOf, callerOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { identityCollection } from "../../../storage/iam/collections.ts";
import { type Delegation, findRoleCapabilities, vouch } from "../../../storage/iam/delegations.ts";
import { hasStaticKeys, subscriptionCapabilities } from "../../../storage/iam/vouchers.ts";
import { requireHeld, withMaker } from "../rules/escalation.ts";
import { inactivityOf } from "./active-delegations.ts";
import { findGiven, type Given, mayReadGiven } from "./delegated-roles.ts";

/**
 * Makes the caller the maker of a delegation. Throws PERMISSION_DENIED unless the caller holds everything that it gives, and
 * FAILED_PRECONDITION if the caller holds it only through this delegation.
 */
export async function confirm(tx: Transaction, { kind, uid }: Delegation, given: Given, call: Call): Promise<void> {
  const isReadable = kind === "subscriptions" || mayReadGiven(given, call);
  const now = activeRoles(given.roles, tx.termTime());
  for (const { groupUid, capabilities } of now)
    requireHeld(call, capabilities, groupUid, "confirming the delegation", { isReadable, end: withMaker });
  await vouch(tx, kind, uid, await promiseOf(tx, kind, given));
  // The confirmed mapping may give roles to running sessions.
  tx.changeAccess();
  if (await inactivityOf(tx, kind, uid)) {
    const { uid: callerUid } = callerOf(call);
    throw failedPrecondition(
      "VOUCHES_FOR_ITSELF",
      `identity ${callerUid} holds these roles only through this delegation; another identity must confirm it`,
      uid,
    );
  }
}

/**
 * Makes the caller the maker of an identity's static keys, if the present maker lacks a role of the identity and the caller holds all
 * of them. Call it after binding a role to the identity: the binding gives the role to anyone who knows the keys.
 */
export async function adoptKeys(tx: Transaction, identityUid: string, call: Call): Promise<void> {
  const identity = await findRow(tx, identityCollection, identityUid);
  if (!identity || !hasStaticKeys(identity) || callerOf(call).uid === identityUid) return;
  const inactivity = await inactivityOf(tx, "identities", identityUid);
  if (inactivity?.reason !== "MAKER_LACKS_CAPABILITIES") return;
  const { roles = [] } = (await findGiven(tx, "identities", identityUid)) ?? {};
  const access = accessOf(call);
  const isHeld = activeRoles(roles, tx.termTime()).every(
    ({ groupUid, capabilities }) => access.missing(capabilitySet(capabilities), groupUid).length === 0,
  );
  if (isHeld) await vouch(tx, "identities", identityUid, []);
}

async function promiseOf(tx: Transaction, kind: Delegation["kind"], { roleUid }: Given): Promise<readonly number[]> {
  if (roleUid !== "") return await findRoleCapabilities(tx, roleUid);
  return kind === "subscriptions" ? subscriptionCapabilities : [];
}
