// Renewal of a cached token, as the platform's SDK does it: the refresh token goes out, a new pair comes in.
import { SecurityTokenService } from "../../../gen/chainguard/platform/oidc/oidc_pb.ts";
import type { Shell } from "../shell.ts";
import type { Refresh, Target } from "./credential.ts";
import { openTransport } from "./session.ts";
import { openTokenCache } from "./token-cache.ts";

/** Renews tokens of the target and keeps both new ones. A refusal is no failure: then it takes a new sign-in. */
export function refresher(shell: Shell, target: Target): Refresh {
  return async (refreshToken) => {
    const { Code, ConnectError, createClient } = await import("@connectrpc/connect");
    const { transport, close } = await openTransport(target.url, async (headers) => {
      headers.set("authorization", `Bearer ${refreshToken}`);
    });
    try {
      const client = createClient(SecurityTokenService, transport);
      const pair = await client.exchangeRefreshToken({ aud: [target.audience] });
      return keep(shell, target, pair.token?.token, pair.refreshToken?.token);
    } catch (error) {
      const refusals = [Code.PermissionDenied, Code.Unauthenticated, Code.Unimplemented, Code.InvalidArgument];
      if (error instanceof ConnectError && refusals.includes(error.code)) return undefined;
      throw (await import("./rpc-failure.ts")).toFailure(error, target);
    } finally {
      close();
    }
  };
}

function keep(shell: Shell, { audience }: Target, token: string | undefined, refreshToken: string | undefined) {
  const cache = openTokenCache(shell, audience);
  // The refresh token first: the old one is spent, and a second use of it ends all of its family.
  if (refreshToken) cache.write("refresh-token", refreshToken);
  if (!token) return undefined;
  cache.write("oidc-token", token);
  return token;
}
