// Renewal of a cached token, as the platform's SDK does it: the refresh token goes out, a new pair comes in.
import { SecurityTokenService } from "../../../gen/chainguard/platform/oidc/oidc_pb.ts";
import type { Shell } from "../shell.ts";
import type { Refresh, Target } from "./credential.ts";
import { openTokenCache } from "./token-cache.ts";
import { withBearer } from "./transport.ts";

/** Renews tokens of the target and keeps both new ones. A refusal is no failure: then it takes a new sign-in. */
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

/** Puts tokens into the cache and answers the first; undefined when it is empty. */
export function keepTokens(
  shell: Shell,
  { audience }: Target,
  token: string,
  refreshToken: string,
): string | undefined {
  const cache = openTokenCache(shell, audience);
  // The refresh token first: the old one is spent, and a second use of it ends all of its family.
  if (refreshToken !== "") cache.write("refresh-token", refreshToken);
  if (token === "") return undefined;
  cache.write("oidc-token", token);
  return token;
}
