import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { permissionDenied } from "../../../aip/errors.ts";
import { capabilitySet } from "../../../model/capabilities.ts";
import { accessOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { findGrants } from "../../../storage/iam/grants.ts";

/** How many missing capabilities a denial names. */
const maxNamed = 5;

/**
 * Throws unless the caller holds all of these capabilities (enum numbers) at the uid. `what` names what would grant them, for the
 * error.
 */
export function requireHeld(call: Call, capabilities: readonly number[], uid: string, what: string): void {
  const missing = accessOf(call).missing(capabilitySet(capabilities), uid);
  if (missing.length === 0) return;
  const named = missing.slice(0, maxNamed).join(", ");
  const more = missing.length > maxNamed ? ` and ${missing.length - maxNamed} more` : "";
  throw permissionDenied(`${what} would grant capabilities that the caller does not hold at ${uid}: ${named}${more}`, {
    capability: missing.slice(0, maxNamed).join(","),
    scope: uid,
  });
}

/**
 * Throws unless the caller holds every capability of the identity's roles, in the same groups. Changing the relationship decides who
 * may assume the identity. The error names the capabilities only to callers who may list the bindings.
 */
export async function requireHeldRoles(session: Session, identityUid: string, call: Call): Promise<void> {
  const access = accessOf(call);
  const holder = await findGrants(session, identityUid);
  for (const { groupUid, capabilities } of holder?.roles ?? []) {
    if (access.has(Capability.CAP_IAM_ROLE_BINDINGS_LIST, groupUid)) {
      requireHeld(call, capabilities, groupUid, "the relationship of the identity");
    } else if (access.missing(capabilitySet(capabilities), groupUid).length > 0) {
      throw permissionDenied(
        "the identity holds roles that the caller does not hold, so the caller cannot change its relationship",
        { identity: identityUid },
      );
    }
  }
}
