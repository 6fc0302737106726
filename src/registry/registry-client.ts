// The registry that notifications are about, as the operator has named it. What a notification says of its place is never
// asked for anything.

import { OutboundError } from "../authn/outbound-error.ts";
import { fetchOutbound } from "../authn/outbound-http.ts";
import type { Proxies } from "../authn/proxies.ts";
import { type FetchContent, manifestTypes } from "./image.ts";
import type { RegistrySigner } from "./signer.ts";

/** Where the registry is, and how to sign in to it. */
export interface UpstreamOptions {
  /** Without a trailing slash. */
  readonly url: string;
  /** `user:password` for Basic; when empty, tokens of our own are sent. */
  readonly credentials: () => string;
  readonly signer: Pick<RegistrySigner, "sign">;
  /** For each document, in milliseconds. */
  readonly timeoutMs: number;
  /** Of a manifest: what OCI distribution-spec asks registries to take at least. */
  readonly maxBytes: number;
  readonly proxies?: Proxies;
}

/** Reads manifests and configurations of the registry. */
export function upstreamContent(options: UpstreamOptions): FetchContent {
  const { url, timeoutMs, maxBytes, proxies } = options;
  return async (kind, repository, reference) => {
    const accept = kind === "manifests" ? manifestTypes.join(", ") : "*/*";
    const headers = { accept, authorization: await authorization(options, repository) };
    const way = proxies ? { proxies } : {};
    const limits = { timeoutMs, maxBytes, allowLoopbackHttp: false, isOwn: true, ...way };
    const target = `${url}/v2/${repository}/${kind}/${reference}`;
    const { status, body } = await fetchOutbound(target, { method: "GET", headers }, limits);
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
  const { token } = await signer.sign({ subject: "gatehouse", access, notAfter: Number.POSITIVE_INFINITY });
  return `Bearer ${token}`;
}
