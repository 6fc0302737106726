// The addresses of hosts whose names come from untrusted tokens and tenants, checked before one is used (security cases J2 to J4).
import type { LookupAddress } from "node:dns";
import { type BlockList, isIP } from "node:net";
import { bareHost, isListed, isLoopbackAddress, isLoopbackUrl, isPublicAddress } from "../base/address-ranges.ts";
import { type Lookup, lookUpBySystem, newLookup } from "./dns-lookup.ts";
import { OutboundError } from "./error.ts";

/** The rules for the addresses of a host. */
export interface AddressRules {
  /** Whether plain http to loopback is allowed, as in development. */
  readonly allowLoopbackHttp: boolean;
  /** Whether https to loopback is allowed. Defaults to false. */
  readonly allowLoopbackHttps?: boolean;
  /** Private addresses that the operator allows for https. Absent means none. */
  readonly allowedPrivate?: BlockList;
  /** Whether the operator configured the host: it may then have any address and speak http. */
  readonly isOwn?: boolean;
  /** Whether only this machine may be contacted. Defaults to false. */
  readonly staysLocal?: boolean;
  /**
   * Resolves a host name. Defaults to dns-lookup.ts, or to the system resolver for names that only the operator can
   * choose.
   */
  readonly resolve?: Lookup;
}

const lookUp = newLookup();

/** Returns the addresses of a host if the rules allow all of them. Otherwise rejects with an OutboundError. */
export async function findAddresses(url: URL, options: AddressRules): Promise<LookupAddress[]> {
  if (options.staysLocal && !isLoopbackUrl(url)) throw new OutboundError("refused", notLocal);
  const hostname = bareHost(url);
  const family = isIP(hostname);
  const { resolve = options.isOwn || isLoopbackUrl(url) ? lookUpBySystem : lookUp } = options;
  const addresses = family
    ? [{ address: hostname, family }]
    : await resolve(hostname).catch((cause) => {
        throw noPublicAddress(cause);
      });
  // One disallowed address rejects all: an answer that mixes both is an attack (security case J4).
  if (addresses.length > 0 && addresses.every((one) => isAllowed(one, url, options))) return addresses;
  // These addresses are not secret.
  if (family || isLoopbackUrl(url)) throw new OutboundError("refused", "the address of the host is not public");
  throw noPublicAddress(systemErrorOf(addresses.length === 0 ? "ENOTFOUND" : "EPRIVATE"));
}

const notLocal = "this server contacts no other machine than its own";

/** One text for absent and for private names: callers must not learn which names a private network has. */
export const noPublicAddressText = "the host has no public address";

/** Returns that error. The cause is for the log of the operator. */
export function noPublicAddress(cause: unknown): OutboundError {
  return new OutboundError("unavailable", noPublicAddressText, cause);
}

/** Returns an error whose code is for the log of the operator. */
export function systemErrorOf(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** Whether tenants may know how the host at an address responds. In development, also this machine. */
export function isPublicPeer(address: LookupAddress, { allowLoopbackHttp }: AddressRules): boolean {
  return isPublicAddress(address) || (allowLoopbackHttp && isLoopbackAddress(address));
}

function isAllowed(address: LookupAddress, url: URL, options: AddressRules): boolean {
  const { allowedPrivate, isOwn, allowLoopbackHttps = false } = options;
  if (isOwn) return true;
  if (url.protocol === "http:") return isLoopbackAddress(address);
  if (allowLoopbackHttps && isLoopbackUrl(url) && isLoopbackAddress(address)) return true;
  return isPublicAddress(address) || (allowedPrivate !== undefined && isListed(allowedPrivate, address));
}
