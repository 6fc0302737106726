// Decides which changes a caller may see (docs/design/audit-and-events.md): all of a group where the caller may subscribe to its
// events, otherwise those of the kinds that the caller may list at the place of the change. Evaluated for each call, from the
// current grants.
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { isWithin } from "../../model/uid.ts";
import { accessOf, requireCapability } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import { listCapabilities } from "../resources.ts";

/** The group and the kind of a change. */
interface PlacedChange {
  readonly kind: string;
  readonly groupUid: string;
}

/** The part of the audit log that a caller may see. */
export interface VisibleChanges {
  /** Whether it is everything in the group. */
  readonly isWhole: boolean;
  shows(change: PlacedChange): boolean;
  /** Whether the caller may see by which token the change was made: its claims are those of an identity. */
  showsClaims(change: PlacedChange): boolean;
}

/** Returns what the caller may see of a group and its subgroups. Throws PERMISSION_DENIED if that is nothing. */
export function visibleChanges(call: Call, parent: string): VisibleChanges {
  const access = accessOf(call);
  if (access.use([Capability.CAP_EVENTS_SUBSCRIPTION_CREATE], parent))
    return { isWhole: true, shows: () => true, showsClaims: () => true };
  const mayList = (capability: Capability) =>
    access.scope([capability]).some((root) => isWithin(root, parent) || isWithin(parent, root));
  if (![...listCapabilities.values()].some(mayList))
    requireCapability(call, Capability.CAP_EVENTS_SUBSCRIPTION_CREATE, parent);
  return {
    isWhole: false,
    shows({ kind, groupUid }) {
      // Other kinds, such as sign-ins, denials and exported secrets, say who did what without changing a resource: they are for
      // callers who may subscribe.
      const capability = listCapabilities.get(kind) ?? Capability.CAP_EVENTS_SUBSCRIPTION_CREATE;
      return access.has(capability, groupUid);
    },
    showsClaims: ({ groupUid }) => access.has(Capability.CAP_IAM_IDENTITY_LIST, groupUid),
  };
}
