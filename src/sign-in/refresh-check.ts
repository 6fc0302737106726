import { permissionDenied } from "../aip/errors.ts";
import { parseExactly } from "../base/json.ts";
import type { SignIn } from "../model/sign-in.ts";
import { userUid } from "../services/iam/users/user-uid.ts";
import type { IdentityDirectory } from "../sts/assumable-identity.ts";
import { assumeWithClaims } from "../sts/assumption.ts";
import { exactAudiences } from "../sts/audiences.ts";
import { type Claims, normalizeIssuer } from "../sts/claim-match.ts";
import type { LoginProvider } from "./login-provider.ts";
import type { Providers } from "./providers.ts";

/**
 * Creates the check that precedes each refresh: everything that allowed the sign-in must still hold (security case X5).
 */
export function newRecheck(
  directory: IdentityDirectory,
  providers: Pick<Providers, "find">,
  requireProvisioned: (providerUid: string, identityUid: string) => Promise<void>,
) {
  return async (identityUid: string, signIn: SignIn, signInTime: number): Promise<void> => {
    const provider = await providers.find(signIn.provider);
    if (!provider || !isSame(provider, signIn.act)) {
      throw permissionDenied("the login provider of the sign-in is no longer in use: sign in again");
    }
    const { iss = "", sub = "" } = signIn.act;
    if (provider.organization) await requireProvisioned(provider.uid, userUid(iss, sub));
    const claims = typeof signIn.claims === "string" ? (parseExactly(signIn.claims) as Claims) : signIn.claims;
    if (claims) {
      await assumeWithClaims(directory, identityUid, claims, exactAudiences(provider.clientId));
      await requireUser(directory, signIn, signInTime);
    } else if (!(await directory.find(identityUid))) throw permissionDenied("the identity does not exist any more");
  };
}

/** Throws unless the user who assumed another identity is still registered, and has not registered again since. */
async function requireUser(directory: IdentityDirectory, { act }: SignIn, signInTime: number): Promise<void> {
  const user = await directory.findUser(act.iss ?? "", act.sub ?? "");
  if (!user || user.createTime > signInTime) throw permissionDenied("the person who signed in does not exist any more");
}

function isSame({ issuer, clientId }: LoginProvider, { iss = "", aud = "" }: SignIn["act"]): boolean {
  return normalizeIssuer(iss) === normalizeIssuer(issuer) && aud.split(",").includes(clientId);
}
