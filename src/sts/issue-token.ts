import { permissionDenied } from "../aip/errors.ts";
import type { IssuedToken, Tokens } from "../authn/tokens.ts";
import type { Grants } from "../authz/access.ts";
import type { Clock } from "../base/clock.ts";
import type { IdentityDirectory } from "./assumable-identity.ts";
import type { Assumption } from "./assumption.ts";
import type { WantedToken } from "./exchange-request.ts";
import { narrow, shownGrants } from "./narrowing.ts";

/** What making a token rests on. */
export interface IssueDeps {
  readonly directory: Pick<IdentityDirectory, "touch">;
  readonly grants: { grantsOf(uid: string, mappings?: readonly string[]): Promise<Grants> };
  readonly tokens: Pick<Tokens, "issue">;
  readonly clock: Clock;
}

/** Makes a token of an identity that has been assumed, within what it holds now and what was asked for. */
export async function issueToken(
  deps: IssueDeps,
  assumption: Assumption,
  wanted: Pick<WantedToken, "audience" | "scopes" | "capabilities">,
): Promise<IssuedToken> {
  checkAudience(wanted.audience, assumption);
  const grants = await deps.grants.grantsOf(assumption.uid, assumption.mappings);
  const narrowing = narrow(wanted, assumption.narrowing, grants);
  const issued = await deps.tokens.issue({
    ...assumption.claims,
    subject: assumption.uid,
    audience: wanted.audience,
    grants: shownGrants(narrowing, grants),
    narrowing,
    ...(assumption.mappings && { mappings: assumption.mappings }),
  });
  await deps.directory.touch(assumption.uid, deps.clock());
  return issued;
}

// Security case X3: a token never becomes one for another audience.
function checkAudience(wanted: readonly string[], { audience }: Assumption): void {
  const beyond = audience && wanted.find((one) => !audience.includes(one));
  if (beyond !== undefined) throw permissionDenied("the presented token is for other audiences", { aud: beyond });
}
