// The address of the client of a request: that of the connection, or what trusted proxies say of it.
import type { IncomingHttpHeaders } from "node:http";
import type { BlockList } from "node:net";
import { canonicalAddress, isInNetworks } from "../../base/network-address.ts";
import type { HttpRequest } from "./message.ts";
import { type Peer, peerOf } from "./peer.ts";

/**
 * The address of the client of a request, canonical; empty when unknown. Every limit per client and every log line takes it
 * from here.
 *
 * Forwarding headers are read only when the peer is a trusted proxy. Of `Forwarded` and `X-Forwarded-For` a proxy sets one
 * and may pass on the other as the client made it up. So where both are present and name two clients, neither is believed
 * and the peer is the client.
 */
export function clientAddress({ socket, headers }: Pick<HttpRequest, "socket" | "headers">): string {
  return clientAddressBehind(peerOf(socket), headers);
}

/** Whether a proxy passed the request on, trusted or not. */
export function isForwarded({ headers }: Pick<HttpRequest, "headers">): boolean {
  return Object.keys(headers).some((name) => forwardingHeader.test(name));
}

const forwardingHeader =
  /^(?:forwarded|via|x-forwarded(?:-.*)?|x-original-(?:for|forwarded-for|host)|x-real-ip|x-client-ip|x-cluster-client-ip|client-ip|true-client-ip|cf-connecting-ip|fastly-client-ip|x-envoy-external-address)$/;

/** The same by the peer and the headers. */
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
 * Walks a chain from its right end, where the nearest proxy wrote, over trusted proxies to the first other node. A node that
 * is no address ends the chain: the proxy that wrote it counts as the client. Undefined for an empty chain.
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

/** RFC 7239 §6: an address, of IPv6 in brackets, and perhaps a port. `X-Forwarded-For` has IPv6 without brackets, too. */
function addressOfNode(node: string): string | undefined {
  const [, bracketed, ipv4] = /^(?:\[([^\]%]+)\]|([\d.]+))(?::(?:\d{1,5}|_[\w.-]+))?$/.exec(node) ?? [];
  if (bracketed !== undefined && !bracketed.includes(":")) return undefined;
  return canonicalAddress(bracketed ?? ipv4 ?? (node.includes("%") ? "" : node));
}

function* listedNodes(header: string): Generator<string> {
  for (const item of header.split(",").reverse()) {
    const node = item.trim();
    // RFC 9110 §5.6.1.2: empty elements of a list count for nothing.
    if (node !== "") yield node;
  }
}

/** The `for` of each element of `Forwarded`, from the right; empty where an element has none or is malformed. */
function* forwardedNodes(header: string): Generator<string> {
  for (const element of elementsFromRight(header)) if (element.trim() !== "") yield nodeOf(element) ?? "";
}

/**
 * Splits at commas outside of quoted strings, from the right: whatever the client began its header with, such as a quote
 * without its end, what proxies appended is read as they meant it.
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
// Many leave out the quotes that brackets and colons need.
const forwardedPair =
  /[ \t]*(?:([!#$%&'*+.^`|~\w-]+)=(?:([!#$%&'*+.^`|~\w:[\]-]+)|"((?:[^"\\]|\\.)*)"))?[ \t]*(?:;|$)/y;

/** The value of `for`, which an element has once at most; undefined when it is missing or the element is malformed. */
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
