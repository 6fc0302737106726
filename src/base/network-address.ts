// IP addresses and networks as text: canonical spelling, and which addresses count as one client.
import { BlockList, isIP, SocketAddress } from "node:net";

/** A network: addresses with a common prefix. */
export interface Network {
  readonly address: string;
  readonly prefix: number;
  readonly family: "ipv4" | "ipv6";
}

/** Parses a network such as `10.0.0.0/8`; undefined if it is not valid. */
export function parseNetwork(text: string): Network | undefined {
  const match = /^([0-9a-fA-F:.]+)\/(\d{1,3})$/.exec(text);
  const [address = "", prefix] = [match?.[1], Number(match?.[2])];
  const version = isIP(address);
  const family = version === 6 ? "ipv6" : "ipv4";
  if (version === 0 || prefix > (family === "ipv6" ? 128 : 32)) return undefined;
  return { address, prefix, family };
}

/** Creates a list with all addresses of the networks. */
export function newNetworkList(networks: readonly Network[]): BlockList {
  const list = new BlockList();
  for (const { address, prefix, family } of networks) list.addSubnet(address, prefix, family);
  return list;
}

/** Reports whether the list contains an address in canonical spelling. */
export function isInNetworks(list: BlockList, address: string): boolean {
  return list.check(address, address.includes(":") ? "ipv6" : "ipv4");
}

/**
 * Returns the canonical spelling of an address (RFC 5952), without its zone; an IPv4-mapped address becomes an IPv4
 * address. Returns undefined if the text is not an address.
 */
export function canonicalAddress(text: string): string | undefined {
  const version = isIP(text);
  if (version === 0) return undefined;
  if (version === 4) return text;
  const { address } = new SocketAddress({ address: text, family: "ipv6" });
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1] ?? address;
}

/**
 * Returns the key of a per-client limit: an IPv4 address, or the /64 of an IPv6 address, which one host has for itself
 * (RFC 4291 §2.5.4). The address must be canonical; other text is returned unchanged.
 */
export function clientOf(address: string): string {
  return address.includes(":") ? `${groupsOf(address, 4)}::/64` : address;
}

/**
 * Returns the network of an operator with many hosts: the /24 of an IPv4 address, the /48 of an IPv6 address (RFC
 * 6177).
 */
export function networkOf(address: string): string {
  if (address.includes(":")) return `${groupsOf(address, 3)}::/48`;
  const lastDot = address.lastIndexOf(".");
  return lastDot < 0 ? address : `${address.slice(0, lastDot)}.0/24`;
}

/** Returns the first groups of a canonical IPv6 address. */
function groupsOf(address: string, count: number): string {
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const behind = tail === "" ? [] : tail.split(":");
    while (groups.length + behind.length < 8) groups.push("0");
    groups.push(...behind);
  }
  return groups.slice(0, count).join(":");
}
