// Reads from the registry that the operator configured. Addresses in notifications are never contacted.

import { nextPage } from "../base/link-header.ts";
import type { Proxies } from "../base/proxies.ts";
import { OutboundError } from "../outbound/error.ts";
import { fetchOutbound, type OutboundOptions, type OutboundReply } from "../outbound/http.ts";
import type { RegistrySigner } from "../registry-token/signer.ts";
import { type FetchContent, type FetchReferrers, manifestTypes } from "./image.ts";
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

/** Sends a request to the registry. Returns undefined if it answers 404. */
async function fetchFrom(
  options: UpstreamOptions,
  limits: ContentLimits,
  { repository, target, accept }: { readonly repository: string; readonly target: string; readonly accept: string },
): Promise<OutboundReply | undefined> {
  const { proxies } = options;
  const headers = { accept, authorization: await authorization(options, repository) };
  const request = { ...limits, allowLoopbackHttp: false, isOwn: true, ...(proxies && { proxies }) };
  const reply = await fetchOutbound(target, { method: "GET", headers }, request);
  if (reply.status === 404) return undefined;
  if (reply.status !== 200) throw new OutboundError("refused", `the registry answers ${reply.status}`);
  return reply;
}

async function authorization(options: UpstreamOptions, repository: string): Promise<string> {
  const { signer } = options;
  const credentials = options.credentials();
  if (credentials !== "") return `Basic ${Buffer.from(credentials).toString("base64")}`;
  const access = [{ type: "repository", name: repository, actions: ["pull"] }];
  const { token } = await signer.sign({ subject: ownSubject, access, notAfter: Number.POSITIVE_INFINITY });
  return `Bearer ${token}`;
}
