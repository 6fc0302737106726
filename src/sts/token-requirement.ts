// The requirements that a token must meet to assume an identity, by the relationship of the identity.
import { create } from "@bufbuild/protobuf";
import {
  type Identity_ClaimMatch,
  Identity_ClaimMatchSchema,
} from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { fromTimestamp } from "../aip/timestamps.ts";
import type { Narrowing } from "../authn/caller.ts";
import type { KeySet } from "../authn/key-sets.ts";
import type { AssumableIdentity, AssumptionDeps } from "./assumable-identity.ts";
import { type Audiences, eitherAudiences, exactAudiences } from "./audiences.ts";
import { normalizeIssuer } from "./claim-match.ts";
import { staticKeySet, staticKeysMatch } from "./static-keys.ts";
import { staticKeysExpiry } from "./static-keys-expiry.ts";
import type { SubjectToken } from "./subject-token.ts";

/** The requirements that a token must meet to assume an identity. */
export interface Requirement {
  readonly match: Identity_ClaimMatch;
  readonly keys: () => Promise<KeySet>;
  /** The token must have one of these if the match names no audience. */
  readonly audiences: Audiences;
  /** Milliseconds since the epoch. */
  readonly notAfter?: number | undefined;
  /** The reason why the static keys are not in force. */
  readonly inactivity?: string | undefined;
  /** The organizations in which the keys need not be in force: the identity created and owns them. */
  readonly founded?: readonly string[] | undefined;
}

/** Returns the requirements of an identity, or undefined if no token of an issuer can assume it. */
export function requirementOf(
  { issuers, defaultAudiences: audiences, staticKeysAudiences = audiences, login }: AssumptionDeps,
  { relationship, createTime, user, inactivity, founded }: AssumableIdentity,
  { issuer }: SubjectToken,
): Requirement | undefined {
  const { case: kind, value } = relationship;
  const keys = () => issuers.keysFor(issuer);
  if (kind === "claimMatch") return { match: value, keys, audiences };
  if (kind === "staticKeys") {
    const notAfter = staticKeysExpiry(value.expirationTime && fromTimestamp(value.expirationTime), createTime);
    const match = staticKeysMatch(value);
    return {
      match,
      keys: async () => staticKeySet(value),
      audiences: staticKeysAudiences,
      notAfter,
      inactivity,
      founded,
    };
  }
  // Tokens that the login provider issued to us as its client, such as at the end of a device flow.
  if (!user || !login || user.issuer !== normalizeIssuer(login.issuer)) return undefined;
  return { match: userMatch(user), keys, audiences: eitherAudiences(audiences, exactAudiences(login.clientId)) };
}

/** Returns the claims that identify a user. */
export function userMatch({ issuer, subject }: NonNullable<AssumableIdentity["user"]>): Identity_ClaimMatch {
  return create(Identity_ClaimMatchSchema, {
    iss: { case: "issuer", value: issuer },
    sub: { case: "subject", value: subject },
  });
}

/** Returns why nobody can assume an identity by its static keys, or undefined if they can be used. */
export function staticKeysProblem(requirement: Requirement | undefined, now: number): string | undefined {
  if (requirement?.notAfter !== undefined && requirement.notAfter <= now)
    return "the static keys of the identity have expired";
  return requirement?.founded?.length ? undefined : requirement?.inactivity;
}

/** Returns the limits of a token for static keys: those that are not in force are used in organizations that the identity created only. */
export function staticKeysNarrowing({ inactivity, founded }: Requirement): Narrowing {
  return inactivity && founded ? { scopes: founded } : {};
}
