// Reads from the registry that the operator configured. Addresses in notifications are never contacted.

import type { Proxies } from "../base/proxies.ts";
import { OutboundError } from "../outbound/error.ts";
import { fetchOutbound, type OutboundOptions } from "../outbound/http.ts";
import type { RegistrySigner } from "../registry-token/signer.ts";
import { type FetchContent, manifestTypes } from "./image.ts";
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
  const { url, proxies } = options;
  return async (kind, repository, reference) => {
    const accept = kind === "blobs" ? "*/*" : manifestTypes.join(", ");
    const headers = { accept, authorization: await authorization(options, repository) };
    const way = proxies ? { proxies } : {};
    const request = { ...limits, allowLoopbackHttp: false, isOwn: true, ...way };
    const target = `${url}/v2/${repository}/${kind}/${reference}`;
    const { status, body } = await fetchOutbound(target, { method: "GET", headers }, request);
    if (status === 404) return undefined;
    if (status !== 200) throw new OutboundError("refused", `the registry answers ${status}`);
    return body;
  };
}

async function authorization(options: UpstreamOptions, repository: string): Promise<string> {
  const { signer } = options;
  const credentials = options.credentials();
  if (credentials !== "") return `Basic ${Buffer.from(credentials).toString("base64")}`;
  const access = [{ type: "repository", name: repository, actions: ["pull"] }];
  const { token } = await signer.sign({ subject: ownSubject, access, notAfter: Number.POSITIVE_INFINITY });
  return `Bearer ${token}`;
}
