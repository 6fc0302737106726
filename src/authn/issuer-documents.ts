// The documents that an issuer publishes: discovery (OpenID Connect Discovery 1.0 §4) and key set (RFC 7517 §5).
import { checkEndpoint } from "../model/issuer-url.ts";
import { OutboundError } from "../outbound/error.ts";
import { type OutsideKey, parseKeySet } from "./key-sets.ts";

/** Fetches a JSON document under the rules of outbound-http.ts. */
export type FetchJson = (url: string) => Promise<unknown>;

/** Fetches the discovery document of an issuer. Rejects with an OutboundError. */
export async function fetchDiscovery(issuer: string, fetchJson: FetchJson): Promise<Readonly<Record<string, unknown>>> {
  const document = await fetchJson(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  const members = (document ?? {}) as Record<string, unknown>;
  // §4.3: the document must repeat the issuer exactly.
  if (members.issuer !== issuer) throw new OutboundError("refused", "the discovery document names another issuer");
  return members;
}

/** Fetches the key set that the discovery document names. Rejects with an OutboundError. */
export async function fetchKeys(issuer: string, fetchJson: FetchJson): Promise<OutsideKey[]> {
  const { jwks_uri: keysUrl } = await fetchDiscovery(issuer, fetchJson);
  if (typeof keysUrl !== "string") throw new OutboundError("refused", "the discovery document names no keys");
  const problem = checkEndpoint(keysUrl, issuer);
  if (problem !== undefined) throw new OutboundError("refused", `the URL of the keys ${problem}`);
  const keys = parseKeySet(await fetchJson(keysUrl));
  if (!keys) throw new OutboundError("refused", "the keys of the issuer are not a key set of acceptable size");
  return keys;
}
