// Tokens of the owner of an organization, whom nobody signed in: for development servers and emulators.
import type { IssuedToken } from "../authn/tokens.ts";
import { formatCapabilitySet } from "../model/capabilities.ts";
import type { UnopenedServer } from "./start-hooks.ts";

/** The owner, and the audience of the token. */
export interface OwnerTokenRequest {
  readonly ownerUid: string;
  /** The issuer and subject whose tokens may assume the owner. */
  readonly owner: { readonly issuer: string; readonly subject: string };
  readonly baseUrl: string;
  readonly audience: string;
}

/** Issues a token with all permissions of the owner, as an exchange would. */
export async function issueOwnerToken(
  { tokens, policy }: Pick<UnopenedServer, "tokens" | "policy">,
  { ownerUid, owner, baseUrl, audience }: OwnerTokenRequest,
): Promise<IssuedToken> {
  const grants = (await policy.grantsOf(ownerUid)) ?? new Map();
  return await tokens.issue({
    subject: ownerUid,
    audience: [audience],
    act: { iss: owner.issuer, sub: owner.subject, aud: baseUrl },
    grants: Object.fromEntries([...grants].map(([uid, set]) => [uid, formatCapabilitySet(set)])),
    narrowing: {},
  });
}
