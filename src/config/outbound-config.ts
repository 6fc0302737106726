// Settings of requests to other servers.
import { hasPortZero, isLoopbackUrl } from "../base/address-ranges.ts";
import type { Network } from "../base/network-address.ts";
import type { Proxies } from "../base/proxies.ts";
import { readIssuerAuthorities } from "./certificate.ts";
import { toNetworks } from "./listen-config.ts";
import { toProxies } from "./proxy-config.ts";
import { ConfigError, type RawSettings, type SettingName } from "./settings.ts";

/** The servers that Gatehouse may contact, and the way to them. */
export interface OutboundConfig {
  readonly privateIssuerNetworks: readonly Network[];
  /** Additional certificate authorities for issuers, in PEM; undefined for none. */
  readonly issuerAuthorities: string | undefined;
  readonly proxies: Proxies;
  readonly privateSinkNetworks: readonly Network[];
  /** Without a trailing slash; https, or loopback http. */
  readonly awsStsEndpoint: string;
  /** Whether the server contacts no other machine than its own. No setting says so. */
  readonly staysLocal: boolean;
}

/** Parses the settings of outbound requests. */
export function toOutboundConfig(raw: RawSettings): OutboundConfig {
  return {
    privateIssuerNetworks: toNetworks(raw, "private-issuer-networks"),
    issuerAuthorities: readIssuerAuthorities(raw),
    proxies: toProxies(raw),
    privateSinkNetworks: toNetworks(raw, "private-sink-networks"),
    awsStsEndpoint: toEndpoint(raw, "aws-sts-endpoint"),
    staysLocal: false,
  };
}

// The endpoint decides who signed a request, so the connection must be secure.
function toEndpoint(raw: RawSettings, name: SettingName): string {
  const url = URL.parse(raw[name]);
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackUrl(url));
  if (
    !url ||
    !isSafe ||
    hasPortZero(url) ||
    url.pathname !== "/" ||
    url.search ||
    url.hash ||
    url.username ||
    url.password
  )
    throw new ConfigError(
      `${name}: ${url?.password ? "the URL" : JSON.stringify(raw[name])} is not the https address of a host, or one of loopback.`,
    );
  return url.origin;
}
