// Decides which addresses a request on behalf of an untrusted caller may go to (security cases J2 to J4, W1).
import { BlockList, isIP } from "node:net";
import { once } from "./lazy.ts";

/** An address as a DNS lookup returns it. */
export interface Address {
  readonly address: string;
  readonly family: number;
}

// The IANA IPv4 and IPv6 special-purpose address registries (RFC 6890), and multicast.
const specialV4 = lazyBlockList("ipv4", [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
]);

// RFC 4291 §2.4: global unicast. Outside it are loopback, link-local, unique local and multicast, and the forms that
// carry an IPv4 address: mapped (::ffff:0:0/96), compatible (::/96) and NAT64 (64:ff9b::/96).
const globalV6 = lazyBlockList("ipv6", [["2000::", 3]]);

// Teredo, 6to4 and the rest of 2001::/23 carry or tunnel to other addresses; the other ranges are for documentation.
const specialV6 = lazyBlockList("ipv6", [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
]);

const loopback = once(() => {
  const list = newBlockList("ipv4", [["127.0.0.0", 8]]);
  list.addAddress("::1", "ipv6");
  return list;
});

/** Reports whether an address is globally reachable, and therefore not part of the server's own network. */
export function isPublicAddress({ address, family }: Address): boolean {
  if (family === 4) return !specialV4().check(address, "ipv4");
  // RFC 4007 §11: only link-local addresses have a zone, and a BlockList cannot parse one.
  if (address.includes("%")) return false;
  return globalV6().check(address, "ipv6") && !specialV6().check(address, "ipv6");
}

/** Reports whether an address is a loopback address. An IPv4-mapped loopback address does not count. */
export function isLoopbackAddress(address: Address): boolean {
  return !address.address.includes("::ffff:") && isListed(loopback(), address);
}

/** Reports whether the host of a URL is a loopback address or `localhost`. */
export function isLoopbackUrl(url: URL): boolean {
  const address = bareHost(url);
  const family = isIP(address);
  return address === "localhost" || (family !== 0 && isLoopbackAddress({ address, family }));
}

/** Reports whether a URL has port 0, which nothing can listen on (RFC 6335 §6). */
export function hasPortZero({ port }: URL): boolean {
  return port === "0";
}

/** Returns the host of a URL without the brackets of an IPv6 address (RFC 3986 §3.2.2). */
export function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/** Reports whether a list contains the address. */
export function isListed(list: BlockList, { address, family }: Address): boolean {
  return !address.includes("%") && list.check(address, family === 4 ? "ipv4" : "ipv6");
}

function lazyBlockList(...list: Parameters<typeof newBlockList>): () => BlockList {
  return once(() => newBlockList(...list));
}

function newBlockList(family: "ipv4" | "ipv6", subnets: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of subnets) list.addSubnet(network, prefix, family);
  return list;
}
