import { ApiError, Code, permissionDenied } from "../../../aip/errors.ts";
import { accessRuleOf } from "../../../authz/rules.ts";
import { capabilitySet } from "../../../model/capabilities.ts";
import { accessOf, methodOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { findGrants } from "../../../storage/iam/grants.ts";
import { mayListBindings } from "./readable.ts";

/** How many missing capabilities a denial names. */
const maxNamed = 5;

/** The reason of the error for a change that would outlast the caller's own access. */
export const outlivesReason = "TERM_OUTLIVES_CALLER";

/** The end of what is given without an end. */
export const noEnd = Number.POSITIVE_INFINITY;

/** The end of what ends with the caller's access anyway, because the caller becomes its maker (decision 0035). */
export const withMaker = Number.NEGATIVE_INFINITY;

/**
 * Throws unless the caller holds all of these capabilities (enum numbers) at the uid, until `end`. `what` names what would grant them, for
 * the error. Of what the caller may not read, the error names neither the capabilities nor the place.
 */
export function requireHeld(
  call: Call,
  capabilities: readonly number[],
  uid: string,
  what: string,
  { isReadable = true, end = noEnd }: { readonly isReadable?: boolean; readonly end?: number } = {},
): void {
  const missing = accessOf(call).missing(capabilitySet(capabilities), uid);
  if (missing.length === 0) {
    requireLasting(call, capabilities, uid, what, end);
    return;
  }
  if (!isReadable) throw permissionDenied(`${what} would grant capabilities that the caller does not hold`);
  const named = missing.slice(0, maxNamed).join(", ");
  const more = missing.length > maxNamed ? ` and ${missing.length - maxNamed} more` : "";
  throw permissionDenied(`${what} would grant capabilities that the caller does not hold at ${uid}: ${named}${more}`, {
    capability: missing.slice(0, maxNamed).join(","),
    scope: uid,
  });
}

/**
 * Throws unless the caller may make the call until `end`, by its capabilities at the uid. A change that lasts must not outlast the access
 * by which it was made.
 */
export function requireLastingCall(call: Call, uid: string, end = noEnd): void {
  const access = accessOf(call);
  if (access.lasting(end) === access) return;
  const rule = accessRuleOf(methodOf(call).descriptor);
  if (rule && rule.type !== "open") requireLasting(call, rule.capabilities, uid, "the change", end);
}

/** Throws unless the caller holds capabilities, which are held now, until `end`. */
function requireLasting(call: Call, capabilities: readonly number[], uid: string, what: string, end: number): void {
  const access = accessOf(call);
  const wanted = capabilitySet(capabilities);
  if (access.lasting(end).missing(wanted, uid).length === 0) return;
  const last = access.ends.findLast((each) => access.lasting(each).missing(wanted, uid).length === 0);
  const until = last === undefined ? "" : new Date(last).toISOString();
  throw new ApiError(
    Code.PERMISSION_DENIED,
    `Permission denied: ${what} would last longer than the access of the caller, which ends${until && ` at ${until}`}; choose an end no later than that`,
    { reason: outlivesReason, metadata: { expire_time: until } },
  );
}

/**
 * Throws unless the caller holds every capability of the identity's roles, in the same groups, without an end. Changing the relationship
 * decides who may assume the identity.
 */
export async function requireHeldRoles(session: Session, identityUid: string, call: Call): Promise<void> {
  const holder = await findGrants(session, identityUid);
  const roles = holder?.roles.filter(({ expireTime }) => expireTime === null || expireTime > session.termTime()) ?? [];
  for (const { role } of roles) {
    const isReadable = mayListBindings(call, role.groupUid);
    requireHeld(call, role.capabilities, role.groupUid, "the relationship of the identity", { isReadable });
  }
  if (roles.length > 0) requireLastingCall(call, identityUid);
}
