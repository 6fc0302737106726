// Reads from the registry that the operator configured. Addresses in notifications are never contacted.

import { nextPage } from "../base/link-header.ts";
import type { Proxies } from "../base/proxies.ts";
import { OutboundError } from "../outbound/error.ts";
import { fetchOutbound, type OutboundOptions, type OutboundReply, streamOutbound } from "../outbound/http.ts";
import type { RegistrySigner } from "../registry-token/signer.ts";
import { type FetchContent, type FetchReferrers, manifestTypes, type StreamBlob } from "./image.ts";
import { registryLimits } from "./limits.ts";

/** Limits of each document. */
export type ContentLimits = Pick<OutboundOptions, "timeoutMs" | "maxBytes">;

/** Options of the registry client. */
export interface UpstreamOptions {
  /** Without a trailing slash. */
  readonly url: string;
  /** `user:password` for Basic authentication; if empty, the client sends tokens of its own. */
  readonly credentials: () => string;
  readonly signer: Pick<RegistrySigner, "sign">;
  readonly proxies?: Proxies;
}

/** The subject of our own tokens for reading. */
const ownSubject = "gatehouse";

/** Returns the name by which the registry knows the reads of this installation. */
export function ownNameOf(credentials: string): string {
  return credentials === "" ? ownSubject : credentials.slice(0, credentials.indexOf(":"));
}

/** Limits of each document that a notification reads. */
const notificationLimits = { timeoutMs: registryLimits.notificationFetchMs, maxBytes: registryLimits.manifestBytes };

/** Creates a reader of manifests and blobs. */
export function upstreamContent(options: UpstreamOptions, limits: ContentLimits = notificationLimits): FetchContent {
  return async (kind, repository, reference) => {
    const accept = kind === "blobs" ? "*/*" : manifestTypes.join(", ");
    const target = `${options.url}/v2/${repository}/${kind}/${reference}`;
    return (await fetchFrom(options, limits, { repository, target, accept }))?.body;
  };
}

/** Creates a reader of blobs that are not kept in memory. The time is that for all of `read`. */
export function upstreamBlob(options: UpstreamOptions, limits: ContentLimits): StreamBlob {
  return async (repository, digest, read) => {
    const target = `${options.url}/v2/${repository}/blobs/${digest}`;
    const { request, outbound } = await requestOf(options, limits, { repository, accept: "*/*" });
    return await streamOutbound(target, request, outbound, async (status, bytes) =>
      isThere(status) ? await read(bytes) : undefined,
    );
  };
}

/** Creates a reader of referrers (OCI distribution-spec 1.1, "Listing Referrers"). The limits are those of each page. */
export function upstreamReferrers(options: UpstreamOptions, limits: ContentLimits): FetchReferrers {
  const accept = manifestTypes[0]!;
  return async function* (repository, digest) {
    let at: URL | undefined = new URL(`${options.url}/v2/${repository}/referrers/${digest}`);
    for (let page = 0; at && page < registryLimits.referrerPages; page++) {
      const reply = await fetchFrom(options, limits, { repository, target: at.href, accept });
      if (!reply) return;
      yield reply.body;
      const next = nextPage(reply.link, at);
      if (next === "elsewhere") throw new OutboundError("refused", "the registry names a next page elsewhere");
      at = next;
    }
  };
}

/** Content of a repository that is requested. */
interface Sought {
  readonly repository: string;
  readonly accept: string;
}

/** Sends a request to the registry. Returns undefined if it answers 404. */
async function fetchFrom(
  options: UpstreamOptions,
  limits: ContentLimits,
  { target, ...sought }: Sought & { readonly target: string },
): Promise<OutboundReply | undefined> {
  const { request, outbound } = await requestOf(options, limits, sought);
  const reply = await fetchOutbound(target, request, outbound);
  return isThere(reply.status) ? reply : undefined;
}

async function requestOf(options: UpstreamOptions, limits: ContentLimits, { repository, accept }: Sought) {
  const { proxies } = options;
  const headers = { accept, authorization: await authorization(options, repository) };
  const outbound = { ...limits, allowLoopbackHttp: false, isOwn: true, ...(proxies && { proxies }) };
  return { request: { method: "GET", headers }, outbound };
}

/** Returns whether a response has what was requested. Throws for another status than 200 and 404. */
function isThere(status: number): boolean {
  if (status !== 200 && status !== 404) throw new OutboundError("refused", `the registry answers ${status}`);
  return status === 200;
}

async function authorization(options: UpstreamOptions, repository: string): Promise<string> {
  const { signer } = options;
  const credentials = options.credentials();
  if (credentials !== "") return `Basic ${Buffer.from(credentials).toString("base64")}`;
  const access = [{ type: "repository", name: repository, actions: ["pull"] }];
  const { token } = await signer.sign({ subject: ownSubject, access, notAfter: Number.POSITIVE_INFINITY });
  return `Bearer ${token}`;
}
