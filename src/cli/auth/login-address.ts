// The address that a person's browser is sent to (the parameters of the platform's SDK).
import type { Target } from "../client/credential.ts";

/** What a sign-in is asked for. */
export interface LoginOptions {
  readonly identity?: string;
  readonly identityProvider?: string;
  readonly orgName?: string;
  readonly inviteCode?: string;
  readonly refresh?: boolean;
}

/** The address of `/oauth` with its parameters; `where` says how the token comes back. */
export function loginAddress(target: Target, options: LoginOptions, where: Readonly<Record<string, string>>): string {
  const address = new URL(`${target.issuer}/oauth`);
  const provider = options.identityProvider ?? options.orgName;
  const parameters = {
    ...where,
    // Exactly one of the two.
    ...(provider === undefined ? { client_id: "auth0" } : { idp_id: provider }),
    audience: target.audience,
    ...(options.identity && { identity: options.identity }),
    ...(options.inviteCode && { invite: options.inviteCode }),
    ...(options.refresh !== false && { create_refresh_token: "true" }),
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  return address.href;
}
