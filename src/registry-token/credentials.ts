// Authenticates registry clients: with an API token, a pull token of an identity, or a token of an identity's OIDC issuer.
import { ApiError, Code, unauthenticated } from "../aip/errors.ts";
import { type BasicCredentials, tokenUser } from "../authn/basic.ts";
import { maxBearerLength } from "../authn/bearer.ts";
import { TokenError, tokenErrorText } from "../authn/token-error.ts";
import type { Tokens } from "../authn/tokens.ts";
import type { Access } from "../authz/access.ts";
import type { AccessToken, Policy } from "../authz/policy.ts";
import { isUid } from "../model/uid.ts";
import type { AssumptionDeps } from "../sts/assumable-identity.ts";
import { assumeWithOutsideToken } from "../sts/assumption.ts";
import { expiryOf, parseSubjectToken } from "../sts/subject-token.ts";

/**
 * User name and password of a registry client. The user name is the uid of an identity, or of a group in which the
 * identity of the token is; `_token` or empty means the person or the identity of the token.
 */
export type Credentials = BasicCredentials;

/** An authenticated registry client. */
export interface RegistryCaller {
  readonly uid: string;
  readonly access: Access;
  /** When the credentials expire, or a role of the caller begins or ends, in milliseconds since the epoch. */
  readonly notAfter: number;
}

/** Dependencies of the authentication. */
export interface SignInDeps extends Omit<AssumptionDeps, "tokens"> {
  /** Verifies API tokens whose audience is the registry; tokens for the API only are rejected. */
  readonly tokens: Pick<Tokens, "verify">;
  readonly policy: Policy;
}

/**
 * Authenticates a client. Rejects with UNAUTHENTICATED for invalid credentials, and with UNAVAILABLE if they cannot be
 * checked now.
 */
export async function signIn(deps: SignInDeps, { user, password }: Credentials): Promise<RegistryCaller> {
  if (user !== "" && user !== tokenUser && !isUid(user))
    throw unauthenticated(
      `the user name must be "${tokenUser}", or the uid of an identity or of a group in which it is`,
    );
  const presented = password.length > maxBearerLength ? undefined : parseSubjectToken(password);
  if (!presented)
    throw unauthenticated(
      "the password must be an API token, a pull token of the identity, or a token of its OIDC issuer",
    );
  try {
    if (presented.issuer === deps.issuer) return await withApiToken(deps, user, password);
    const target = { identity: user === tokenUser ? "" : user, isGroupAllowed: true, groups: [] };
    const { uid, claims, narrowing } = await assumeWithOutsideToken(deps, target, presented);
    // The exchange has checked that there is an expiry.
    const expiry = expiryOf(presented.claims) ?? 0;
    const now = deps.clock();
    await deps.directory.touch(uid, now);
    const expiresAt = Math.min(expiry, claims.notAfter ?? expiry);
    return await callerOf(deps, { subject: uid, act: claims.act, issuedAt: now, expiresAt, narrowing });
  } catch (error) {
    throw refusal(error);
  }
}

async function withApiToken(deps: SignInDeps, user: string, token: string): Promise<RegistryCaller> {
  const verified = await deps.tokens.verify(token);
  if (isUid(user) && user !== verified.subject) throw unauthenticated("the token is another identity's");
  return await callerOf(deps, verified);
}

async function callerOf({ policy }: SignInDeps, token: AccessToken): Promise<RegistryCaller> {
  // Access that is not granted is left out without an error, and the client keeps the token for minutes, so read the
  // latest grants.
  const access = await policy.latestAccessOf(token);
  if (!access) throw unauthenticated("the identity of this token does not exist");
  // A registry cannot ask again whether a role has ended.
  return { uid: token.subject, access, notAfter: Math.min(token.expiresAt, access.until) };
}

/** Clients understand only 401 for any problem with credentials. */
function refusal(error: unknown): unknown {
  if (error instanceof TokenError) return unauthenticated(tokenErrorText(error), error);
  const isDenial = error instanceof ApiError && error.code === Code.PERMISSION_DENIED;
  return isDenial ? unauthenticated(error.message.replace(/^Permission denied: /, ""), error) : error;
}
