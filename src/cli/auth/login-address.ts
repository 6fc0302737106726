// The sign-in address for the user's browser (with the parameters of the platform's SDK).
import type { Target } from "../client/credential.ts";

/** Options of a sign-in. */
export interface LoginOptions {
  readonly identity?: string;
  readonly identityProvider?: string;
  readonly orgName?: string;
  readonly inviteCode?: string;
  readonly refresh?: boolean;
}

/** Returns the address of `/oauth` with its parameters; `where` says how the token is returned. */
export function loginAddress(target: Target, options: LoginOptions, where: Readonly<Record<string, string>>): string {
  const address = new URL(`${target.issuer}/oauth`);
  const provider = options.identityProvider ?? options.orgName;
  const parameters = {
    ...where,
    // Exactly one of the two parameters.
    ...(provider === undefined ? { client_id: "auth0" } : { idp_id: provider }),
    audience: target.audience,
    ...(options.identity && { identity: options.identity }),
    ...(options.inviteCode && { invite: options.inviteCode }),
    ...(options.refresh !== false && { create_refresh_token: "true" }),
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  return address.href;
}
