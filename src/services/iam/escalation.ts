import { permissionDenied } from "../../aip/errors.ts";
import { type CapabilitySet, capabilitySet } from "../../authz/capabilities.ts";
import { accessOf } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";

/** How many missing capabilities a denial names. */
const namedAtMost = 5;

/** Nobody gives away what they do not hold: throws unless the caller holds all of these capabilities at the uid. */
export function requireHeld(call: Call, wanted: CapabilitySet, uid: string, what: string): void {
  const missing = accessOf(call).missing(wanted, uid);
  if (missing.length === 0) return;
  const named = missing.slice(0, namedAtMost).join(", ");
  const more = missing.length > namedAtMost ? ` and ${missing.length - namedAtMost} more` : "";
  throw permissionDenied(`${what} would grant capabilities that the caller does not hold at ${uid}: ${named}${more}`, {
    capability: missing.slice(0, namedAtMost).join(","),
    scope: uid,
  });
}

/** The same for the enum numbers of a stored role. */
export function requireHeldNumbers(call: Call, numbers: readonly number[], uid: string, what: string): void {
  requireHeld(call, capabilitySet(numbers), uid, what);
}
