// The texts for the kind of a delegation and for the reason why it is not in force. Load the texts `delegations` with them.

import type { RoleBindingIdentity } from "../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { type Delegation, DelegationKind, InactivityReason } from "../../../gen/gatehouse/iam/v1/delegations_pb.ts";
import { identityText } from "../api/naming.ts";
import type { TextId } from "../texts/catalogues.ts";
import type { Texts } from "../texts/texts.ts";

/** How many missing capabilities are named. */
const shownCapabilities = 3;

const reasons: Readonly<Record<number, TextId>> = {
  [InactivityReason.MAKER_DELETED]: "inactivity.deleted",
  [InactivityReason.MAKER_LACKS_CAPABILITIES]: "inactivity.lacks",
  [InactivityReason.ROLE_EXTENDED]: "inactivity.extended",
};

type Maker = Pick<RoleBindingIdentity, "uid"> & { readonly name?: string | undefined; readonly email?: string };

/** Returns the reason in a sentence. A newer server may have reasons that this page does not know. */
export function inactivityText(t: Texts, delegation: Delegation, maker: Maker | undefined): string {
  const { inactivity, capabilities } = delegation;
  return t(reasons[inactivity] ?? "inactivity.unknown", {
    maker: identityText(t, maker),
    // Empty for a caller who may not know what it gives.
    capabilities: capabilities.slice(0, shownCapabilities).join(", ") || t("inactivity.hidden"),
    more: Math.max(capabilities.length - shownCapabilities, 0),
  });
}

const kinds: Readonly<Record<number, TextId>> = {
  [DelegationKind.GROUP_INVITE]: "delegation.invite",
  [DelegationKind.SUBSCRIPTION]: "delegation.subscription",
  [DelegationKind.DEFAULT_ROLE]: "delegation.defaultRole",
  [DelegationKind.SCIM_TOKEN]: "delegation.scim",
  [DelegationKind.EXTERNAL_GROUP_ROLE_MAPPING]: "delegation.mapping",
  [DelegationKind.STATIC_KEYS]: "delegation.keys",
  [DelegationKind.ACCESS_REQUEST_RULE]: "delegation.requestRule",
  [DelegationKind.ACCESS_REVIEW]: "delegation.review",
};

/** Returns the word for a kind, which the name follows. */
export function delegationKindText(t: Texts, kind: DelegationKind): string {
  return t(kinds[kind] ?? "delegation.other");
}
