// The API, composed of everything but what its handlers rest on: nothing of it can be called.
import { SecurityTokenService } from "../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { type Api, composeApi } from "../../src/api.ts";

const tokenService = Object.fromEntries(SecurityTokenService.methods.map(({ localName }) => [localName, () => ({})]));

/** The API as it is before anything was asked for. */
export function composeUncalled(): Api {
  return composeApi(
    { explainExchange: () => ({}) } as never,
    tokenService as never,
    { domain: "example.org" } as never,
  );
}
