import { permissionDenied } from "../aip/errors.ts";
import type { TokenRequest } from "../authn/token-claims.ts";
import type { IssuedToken, Tokens } from "../authn/tokens.ts";
import type { Grants } from "../authz/grants.ts";
import type { SessionClaims } from "../authz/policy.ts";
import type { Clock } from "../base/clock.ts";
import type { IdentityDirectory } from "./assumable-identity.ts";
import type { Assumption } from "./assumption.ts";
import type { WantedToken } from "./exchange-request.ts";
import { narrow, shownGrants } from "./narrowing.ts";

/** Dependencies of issuing a token. */
export interface IssueDeps {
  readonly directory: Pick<IdentityDirectory, "touch">;
  readonly grants: { grantsOf(uid: string, session: SessionClaims): Promise<Grants> };
  readonly tokens: Pick<Tokens, "issue">;
  readonly clock: Clock;
}

/** Issues a token for an assumed identity, within its current grants and the request. */
export async function issueToken(
  deps: IssueDeps,
  assumption: Assumption,
  wanted: Pick<WantedToken, "audience" | "scopes" | "capabilities"> & Pick<TokenRequest, "isOfBrowser">,
): Promise<IssuedToken> {
  checkAudience(wanted.audience, assumption);
  const grants = await deps.grants.grantsOf(assumption.uid, sessionOf(assumption));
  const narrowing = narrow(wanted, assumption.narrowing, grants);
  const issued = await deps.tokens.issue({
    ...assumption.claims,
    subject: assumption.uid,
    audience: wanted.audience,
    grants: shownGrants(narrowing, grants),
    narrowing,
    isOfBrowser: wanted.isOfBrowser,
    mappings: assumption.mappings,
  });
  await deps.directory.touch(assumption.uid, deps.clock());
  return issued;
}

/** Returns the claims, besides the identity, that determine the grants of a session. */
export function sessionOf({ claims: { act }, mappings }: Assumption): SessionClaims {
  return { act, mappings };
}

// Security case X3: a token cannot be exchanged for one with another audience.
function checkAudience(wanted: readonly string[], { audience }: Assumption): void {
  const beyond = audience && wanted.find((one) => !audience.includes(one));
  if (beyond !== undefined) throw permissionDenied("the subject token is for other audiences", { aud: beyond });
}
