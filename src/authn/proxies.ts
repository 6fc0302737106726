// Which requests of this program go through a proxy, as HTTPS_PROXY, HTTP_PROXY and NO_PROXY say
// (docs/decisions/0038).
import { type BlockList, isIP } from "node:net";
import { type Network, newNetworkList, parseNetwork } from "../base/network-address.ts";
import { bareHost, isListed, isLoopbackUrl } from "./addresses.ts";

/** The proxies that an operator, or the user of a command, has configured. */
export interface Proxies {
  /** For https URLs, and for http URLs; absent for none. */
  readonly https: URL | undefined;
  readonly http: URL | undefined;
  readonly bypass: Bypass;
}

/** Whom no proxy is used for. */
export interface Bypass {
  readonly isEverybody: boolean;
  /** Hosts, each with all below it, and a port where only that is meant. */
  readonly hosts: readonly { readonly name: string; readonly port: string }[];
  readonly networks: readonly Network[];
  readonly addresses: BlockList;
}

/** The URL of a proxy; undefined for a text that is none. Without a scheme it is an http URL, as curl has it. */
export function parseProxy(text: string): URL | undefined {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  const isPlain = url?.pathname === "/" && url.search === "" && url.hash === "";
  return isPlain && (url.protocol === "http:" || url.protocol === "https:") ? url : undefined;
}

/** Reads NO_PROXY: `*`, or hosts, addresses and networks separated by commas or spaces. */
export function parseBypass(text: string): Bypass {
  const items = text.split(/[\s,]+/).filter((item) => item !== "");
  const networks = items.map(parseNetwork).filter((network) => network !== undefined);
  const hosts = items.filter((item) => !item.includes("/")).map(toHost);
  return { isEverybody: items.includes("*"), hosts, networks, addresses: newNetworkList(networks) };
}

/**
 * The proxy that a URL is asked through; undefined for none. This machine is always asked directly, as programs in Go do
 * (net/http.ProxyFromEnvironment): it means another one to a proxy.
 */
export function proxyFor(url: URL, { https, http, bypass }: Proxies): URL | undefined {
  if (isLoopbackUrl(url) || isBypassed(url, bypass)) return undefined;
  return url.protocol === "https:" ? https : http;
}

/** The port that a URL means. */
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

/** `.example.com` and `*.example.com` mean the same as `example.com`; an IPv6 address may stand in brackets. */
function toHost(item: string): Bypass["hosts"][number] {
  const [, bracketed, plain = "", port = ""] = /^(?:\[(.*)\]|([^:]*|.*:.*:.*?))(?::(\d+))?$/.exec(item) ?? [];
  return { name: (bracketed ?? plain).toLowerCase().replace(/^\*?\./, ""), port };
}
