// Errors and descriptions of delegations that are not in force. Authority is checked when it is used (decision 0035).
import { ApiError, failedPrecondition } from "../../../aip/errors.ts";
import type { Session } from "../../../storage/engine/session.ts";
import type { DelegationKind } from "../../../storage/iam/delegations.ts";
import { type Inactivity, inactivityOf, newEvaluator } from "./active-delegations.ts";

/**
 * Throws FAILED_PRECONDITION unless the delegation is in force. The caller may be a stranger, so the error does not
 * say what the maker holds; that is for callers who may list delegations.
 */
export async function requireInForce(session: Session, kind: DelegationKind, uid: string): Promise<void> {
  const inactivity = await inactivityOf(session, kind, uid);
  if (inactivity) throw inactive(kind, uid, inactivity);
}

/** Returns the time at which a delegation that is in force ends with the access of its maker; null if it has no end. */
export async function endOf(session: Session, kind: DelegationKind, uid: string): Promise<number | null> {
  const { terms } = await newEvaluator(session).termsOf([{ kind, uid }]);
  return terms[0]?.[0]?.expireTime ?? null;
}

/** Returns the error for a caller who uses a delegation that is not in force. */
export function inactive(kind: DelegationKind, uid: string, { reason }: Inactivity): ApiError {
  const { code, message, details } = failedPrecondition(inactiveType, `${texts[kind]} ${remedyFor(uid)}`, uid);
  return new ApiError(code, message, { details, reason: inactiveType, metadata: { cause: reason, kind, uid } });
}

const inactiveType = "DELEGATION_INACTIVE";

const texts: Readonly<Record<DelegationKind, string>> = {
  group_invites: "the invite is not in force: its maker no longer holds what it gives.",
  subscriptions: "the subscription is not in force: its maker may no longer subscribe.",
  identity_providers: "the identity provider cannot give its default role: its maker no longer holds that role.",
  scim_tokens: "the SCIM token is not in force: its maker no longer holds the default role and the mapped roles.",
  external_group_role_mappings: "the mapping is not in force: its maker no longer holds its role.",
  identities: "the static keys are not in force: the maker of the keys no longer holds what their identity holds.",
  access_request_rules:
    "the rule of access requests is not in force: its maker does not hold its roles, with role_bindings.create, without an end.",
  access_reviews: "the access review ends nothing: its maker does not hold role_bindings.delete.",
};

function remedyFor(uid: string): string {
  return `An owner confirms it with \`gatehouse iam delegations confirm ${uid}\`, or deletes it`;
}

/** Returns why static keys are not in force, or undefined if they are. */
export async function staticKeysInactivity(session: Session, uid: string): Promise<string | undefined> {
  return (await inactivityOf(session, "identities", uid)) && `${texts.identities} ${remedyFor(uid)}`;
}

/** Returns why a subscription is not in force, or undefined if it is. */
export async function subscriptionInactivity(session: Session, uid: string): Promise<string | undefined> {
  const inactivity = await inactivityOf(session, "subscriptions", uid);
  return inactivity && describeInactivity(inactivity);
}

/** Describes the reason, for callers who may know what the maker holds. */
export function describeInactivity({ reason, capabilities }: Inactivity): string {
  switch (reason) {
    case "MAKER_UNKNOWN":
      return "its maker is unknown";
    case "MAKER_DELETED":
      return "its maker was deleted";
    case "MAKER_LACKS_CAPABILITIES":
      return `its maker does not hold ${capabilities.join(", ") || "what it gives"}`;
    case "ROLE_EXTENDED":
      return `capabilities were added to its role: ${capabilities.join(", ")}`;
  }
}
