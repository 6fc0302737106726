// What a startup snapshot holds besides modules: what a start makes of the code alone.
import { SecurityTokenService } from "../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { type Api, composeApi } from "../server/api.ts";
import { bindingsOf } from "../transport/rest/http-rule.ts";

/** Makes what is made once per method. It is then there when a server composes its own API. */
export function prepare(): void {
  for (const method of composeUncalled().now.values()) bindingsOf(method);
}

const tokenService = Object.fromEntries(SecurityTokenService.methods.map(({ localName }) => [localName, () => ({})]));

/** The API, composed of everything but what its handlers rest on: nothing of it can be called. */
export function composeUncalled(): Api {
  return composeApi(
    { explainExchange: () => ({}), settings: {} } as never,
    tokenService as never,
    { domain: "example.org" } as never,
  );
}
