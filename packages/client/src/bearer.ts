// The bearer token of calls (RFC 6750).
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { authorizationOf, type TokenSource } from "./tokens.ts";

/** Returns an interceptor that sends the token of a source, and another one once if the server rejects it. */
export function bearerToken(tokens: TokenSource): Interceptor {
  return (next) => async (request) => {
    const token = await tokens.current();
    request.header.set("authorization", authorizationOf(token));
    try {
      return await next(request);
    } catch (error) {
      // For example after `keys rotate --retire-now`: the token has not expired, but is rejected.
      if (request.stream || !(error instanceof ConnectError) || error.code !== Code.Unauthenticated) throw error;
      const renewed = await tokens.renewed(token);
      if (renewed === undefined) throw error;
      request.header.set("authorization", authorizationOf(renewed));
      return await next(request);
    }
  };
}
