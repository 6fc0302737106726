import { permissionDenied } from "../../../aip/errors.ts";
import { capabilitySet } from "../../../model/capabilities.ts";
import { accessOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { findGrants } from "../../../storage/iam/grants.ts";
import { mayListBindings } from "./readable.ts";

/** How many missing capabilities a denial names. */
const maxNamed = 5;

/**
 * Throws unless the caller holds all of these capabilities (enum numbers) at the uid. `what` names what would grant them, for the
 * error. Of what the caller may not read, the error names neither the capabilities nor the place.
 */
export function requireHeld(
  call: Call,
  capabilities: readonly number[],
  uid: string,
  what: string,
  isReadable = true,
): void {
  const missing = accessOf(call).missing(capabilitySet(capabilities), uid);
  if (missing.length === 0) return;
  if (!isReadable) throw permissionDenied(`${what} would grant capabilities that the caller does not hold`);
  const named = missing.slice(0, maxNamed).join(", ");
  const more = missing.length > maxNamed ? ` and ${missing.length - maxNamed} more` : "";
  throw permissionDenied(`${what} would grant capabilities that the caller does not hold at ${uid}: ${named}${more}`, {
    capability: missing.slice(0, maxNamed).join(","),
    scope: uid,
  });
}

/**
 * Throws unless the caller holds every capability of the identity's roles, in the same groups. Changing the relationship decides who
 * may assume the identity.
 */
export async function requireHeldRoles(session: Session, identityUid: string, call: Call): Promise<void> {
  const holder = await findGrants(session, identityUid);
  for (const { groupUid, capabilities } of holder?.roles ?? [])
    requireHeld(call, capabilities, groupUid, "the relationship of the identity", mayListBindings(call, groupUid));
}
