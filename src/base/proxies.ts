// Decides which outbound requests go through a proxy, by HTTPS_PROXY, HTTP_PROXY and NO_PROXY (docs/decisions/0038).
import { type BlockList, isIP } from "node:net";
import { bareHost, hasPortZero, isListed, isLoopbackUrl } from "./address-ranges.ts";
import { type Network, newNetworkList, parseNetwork } from "./network-address.ts";

/** The proxies that the operator, or the user of a command, configured. */
export interface Proxies {
  /** The proxies for https and http URLs. Undefined means none. */
  readonly https: URL | undefined;
  readonly http: URL | undefined;
  readonly bypass: Bypass;
}

/** The hosts that are contacted directly. */
export interface Bypass {
  readonly isEverybody: boolean;
  /** Host names, each with its subdomains, and a port if only that port is meant. */
  readonly hosts: readonly { readonly name: string; readonly port: string }[];
  readonly networks: readonly Network[];
  readonly addresses: BlockList;
}

/** Parses the URL of a proxy; undefined if it is not valid. Without a scheme it is an http URL, as in curl. */
export function parseProxy(text: string): URL | undefined {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  const isPlain = url?.pathname === "/" && url.search === "" && url.hash === "";
  return isPlain && !hasPortZero(url) && (url.protocol === "http:" || url.protocol === "https:") ? url : undefined;
}

/** Parses NO_PROXY: `*`, or hosts, addresses and networks separated by commas or spaces. */
export function parseBypass(text: string): Bypass {
  const items = text.split(/[\s,]+/).filter((item) => item !== "");
  const networks = items.map(parseNetwork).filter((network) => network !== undefined);
  const hosts = items.filter((item) => !item.includes("/")).map(toHost);
  return { isEverybody: items.includes("*"), hosts, networks, addresses: newNetworkList(networks) };
}

/**
 * Returns the proxy for a URL, or undefined. Loopback is always contacted directly, as Go programs do
 * (net/http.ProxyFromEnvironment): for a proxy it would be another machine.
 */
export function proxyFor(url: URL, { https, http, bypass }: Proxies): URL | undefined {
  if (isLoopbackUrl(url) || isBypassed(url, bypass)) return undefined;
  return url.protocol === "https:" ? https : http;
}

/** Returns the port of a URL, explicit or by its scheme. */
export function portOf({ port, protocol }: URL): string {
  return port || (protocol === "https:" ? "443" : "80");
}

function isBypassed(url: URL, { isEverybody, hosts, addresses }: Bypass): boolean {
  const host = bareHost(url).replace(/\.$/, "");
  const family = isIP(host);
  if (isEverybody || (family !== 0 && isListed(addresses, { address: host, family }))) return true;
  const isNamed = (name: string) => host === name || (family === 0 && host.endsWith(`.${name}`));
  return hosts.some(({ name, port }) => isNamed(name) && (port === "" || port === portOf(url)));
}

/** `.example.com` and `*.example.com` mean `example.com`. An IPv6 address may have brackets. */
function toHost(item: string): Bypass["hosts"][number] {
  const [, bracketed, plain = "", port = ""] = /^(?:\[(.*)\]|([^:]*|.*:.*:.*?))(?::(\d+))?$/.exec(item) ?? [];
  return { name: (bracketed ?? plain).toLowerCase().replace(/^\*?\./, ""), port };
}
