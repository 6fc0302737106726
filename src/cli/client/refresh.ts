// Renews cached tokens like the platform's SDK: exchanges the refresh token for a new pair.
import { SecurityTokenService } from "../../../gen/chainguard/platform/oidc/oidc_pb.ts";
import type { Shell } from "../shell.ts";
import type { Refresh, Target } from "./credential.ts";
import { openTokenCache } from "./token-cache.ts";
import { withBearer } from "./transport.ts";

/**
 * Returns a function that renews the target's tokens and caches both. If the server rejects the refresh token, the user
 * must sign in again.
 */
export function refresher(shell: Shell, target: Target): Refresh {
  return async (refreshToken) => {
    const { Code, ConnectError, createClient } = await import("@connectrpc/connect");
    try {
      const pair = await withBearer(target, refreshToken, (transport) =>
        createClient(SecurityTokenService, transport).exchangeRefreshToken({ aud: [target.audience] }),
      );
      return keepTokens(shell, target, pair.token?.token ?? "", pair.refreshToken?.token ?? "");
    } catch (error) {
      const refusals = [Code.PermissionDenied, Code.Unauthenticated, Code.Unimplemented, Code.InvalidArgument];
      if (error instanceof ConnectError && refusals.includes(error.code)) return undefined;
      throw (await import("./rpc-failure.ts")).toFailure(error, target);
    }
  };
}

/** Caches tokens and returns the API token; undefined if it is empty. */
export function keepTokens(
  shell: Shell,
  { audience }: Target,
  token: string,
  refreshToken: string,
): string | undefined {
  const cache = openTokenCache(shell, audience);
  // The refresh token first: the old one is used up, and using it again ends its family.
  if (refreshToken !== "") cache.write("refresh-token", refreshToken);
  if (token === "") return undefined;
  cache.write("oidc-token", token);
  return token;
}
