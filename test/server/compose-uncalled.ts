import { SecurityTokenService } from "../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { type Api, composeApi } from "../../src/server/api.ts";

const tokenService = Object.fromEntries(SecurityTokenService.methods.map(({ localName }) => [localName, () => ({})]));

/** Composes the API without what its handlers need: its rules, routes and documents can be read, but no method can be called. */
export function composeUncalled(): Api {
  return composeApi(
    { explainExchange: () => ({}), settings: {} } as never,
    tokenService as never,
    { domain: "example.org" } as never,
    { keptMs: 0, onReplay: () => {} },
  );
}
