// The proxies of a command, from HTTPS_PROXY, HTTP_PROXY and NO_PROXY.
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { bareHost } from "../../base/address-ranges.ts";
import { once } from "../../base/lazy.ts";
import { http } from "../../base/node-http.ts";
import { proxyFor } from "../../base/proxies.ts";
import { toProxies } from "../../config/proxy-config.ts";
import { readProxySettings } from "../../config/read-settings.ts";
import { openTunnel } from "../../outbound/tunnel.ts";
import { proxyEnvironment } from "./proxy-environment.ts";

const proxies = once(() => toProxies(readProxySettings(proxyEnvironment())));

/** Starts a request through the proxy for its URL, if any. */
export function beginFetch(address: string | URL, init: RequestInit): Promise<Response> {
  const proxy = proxyFor(new URL(address), proxies());
  if (!proxy) return fetch(address, init);
  // `fetch` reads the dispatcher when it is called, so concurrent requests keep theirs.
  const restore = http.setGlobalProxyFromEnv({ http_proxy: proxy.href, https_proxy: proxy.href });
  try {
    return fetch(address, init);
  } finally {
    restore();
  }
}

/** Opens the connection to an HTTP/2 server through a proxy; undefined if none applies. */
export async function connectThroughProxy(address: string, timeoutMs: number): Promise<Duplex | undefined> {
  const url = new URL(address);
  const proxy = proxyFor(url, proxies());
  if (!proxy) return undefined;
  const socket = await openTunnel(proxy, url, AbortSignal.timeout(timeoutMs));
  if (url.protocol === "http:") return socket;
  const host = bareHost(url);
  return connectTls({ socket, host, ALPNProtocols: ["h2"], ...(isIP(host) === 0 && { servername: host }) });
}
