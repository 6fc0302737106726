// The address of the client of a request: that of the connection, or the one that trusted proxies forward.
import type { IncomingHttpHeaders } from "node:http";
import type { BlockList } from "node:net";
import { canonicalAddress, isInNetworks } from "../../base/network-address.ts";
import type { HttpRequest } from "./message.ts";
import { type Peer, peerOf } from "./peer.ts";

/**
 * Returns the canonical address of the client of a request; empty when unknown. Limits per client and log lines use it.
 *
 * Forwarding headers count only if the peer is a trusted proxy. A proxy sets one of `Forwarded` and `X-Forwarded-For`, and may pass
 * on the other one as the client invented it. If both name different clients, neither is trusted and the peer is the client.
 */
export function clientAddress({ socket, headers }: Pick<HttpRequest, "socket" | "headers">): string {
  return clientAddressBehind(peerOf(socket), headers);
}

/** Whether a proxy forwarded the request, trusted or not. */
export function isForwarded({ headers }: Pick<HttpRequest, "headers">): boolean {
  return Object.keys(headers).some((name) => forwardingHeader.test(name));
}

const forwardingHeader =
  /^(?:forwarded|via|x-forwarded(?:-.*)?|x-original-(?:for|forwarded-for|host)|x-real-ip|x-client-ip|x-cluster-client-ip|client-ip|true-client-ip|cf-connecting-ip|fastly-client-ip|x-envoy-external-address)$/;

/** Returns the address of the client that sent a request with these headers through a peer. */
export function clientAddressBehind({ address, trustedProxies }: Peer, headers: IncomingHttpHeaders): string {
  if (trustedProxies === undefined) return address;
  const chains = [forwardedNodes(textOf(headers.forwarded)), listedNodes(textOf(headers["x-forwarded-for"]))];
  const clients = chains.flatMap((nodes) => clientOf(nodes, address, trustedProxies) ?? []);
  return clients.every((client) => client === clients[0]) ? (clients[0] ?? address) : address;
}

/** Repeated header lines are one list (RFC 9110 §5.3). */
function textOf(header: string | string[] | undefined): string {
  return header?.toString() ?? "";
}

/**
 * Follows a chain from its right end, which the nearest proxy wrote, over trusted proxies to the first other node. A node that
 * is not an address ends the chain: the proxy that wrote it counts as the client. Returns undefined for an empty chain.
 */
function clientOf(nodes: Iterable<string>, peer: string, trusted: BlockList): string | undefined {
  let client: string | undefined;
  for (const node of nodes) {
    const address = addressOfNode(node);
    if (address === undefined) return client ?? peer;
    client = address;
    if (!isInNetworks(trusted, address)) return client;
  }
  return client;
}

/** RFC 7239 §6: an address, IPv6 in brackets, and an optional port. `X-Forwarded-For` also has IPv6 without brackets. */
function addressOfNode(node: string): string | undefined {
  const [, bracketed, ipv4] = /^(?:\[([^\]%]+)\]|([\d.]+))(?::(?:\d{1,5}|_[\w.-]+))?$/.exec(node) ?? [];
  if (bracketed !== undefined && !bracketed.includes(":")) return undefined;
  return canonicalAddress(bracketed ?? ipv4 ?? (node.includes("%") ? "" : node));
}

function* listedNodes(header: string): Generator<string> {
  for (const item of header.split(",").reverse()) {
    const node = item.trim();
    // RFC 9110 §5.6.1.2: empty elements of a list are ignored.
    if (node !== "") yield node;
  }
}

/** Yields the `for` of each element of `Forwarded` from the right; empty if an element has none or is malformed. */
function* forwardedNodes(header: string): Generator<string> {
  for (const element of elementsFromRight(header)) if (element.trim() !== "") yield nodeOf(element) ?? "";
}

/**
 * Splits at commas outside quoted strings, from the right. A client may begin its header with an unclosed quote; what proxies
 * appended is still parsed correctly.
 */
function* elementsFromRight(header: string): Generator<string> {
  let end = header.length;
  let isQuoted = false;
  for (let i = end - 1; i >= 0; i--) {
    if (header[i] === '"' && !isEscaped(header, i)) isQuoted = !isQuoted;
    else if (header[i] === "," && !isQuoted) {
      yield header.slice(i + 1, end);
      end = i;
    }
  }
  yield header.slice(0, end);
}

function isEscaped(text: string, index: number): boolean {
  let backslashes = 0;
  while (text[index - 1 - backslashes] === "\\") backslashes++;
  return backslashes % 2 === 1;
}

// RFC 7239 §4: forwarded-pair = token "=" value; value = token / quoted-string.
// Many proxies omit the quotes that brackets and colons need.
const forwardedPair =
  /[ \t]*(?:([!#$%&'*+.^`|~\w-]+)=(?:([!#$%&'*+.^`|~\w:[\]-]+)|"((?:[^"\\]|\\.)*)"))?[ \t]*(?:;|$)/y;

/** Returns the value of `for`; undefined if it is missing or repeated, or the element is malformed. */
function nodeOf(element: string): string | undefined {
  let node: string | undefined;
  forwardedPair.lastIndex = 0;
  while (forwardedPair.lastIndex < element.length) {
    const match = forwardedPair.exec(element);
    if (!match) return undefined;
    const [, name = "", token, quoted] = match;
    if (name.toLowerCase() !== "for") continue;
    if (node !== undefined) return undefined;
    node = token ?? quoted?.replaceAll(/\\(.)/g, "$1");
  }
  return node;
}
