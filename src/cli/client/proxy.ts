// The proxies of the command that runs, as HTTPS_PROXY, HTTP_PROXY and NO_PROXY name them.
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { bareHost } from "../../authn/addresses.ts";
import { proxyFor } from "../../authn/proxies.ts";
import { openTunnel } from "../../authn/tunnel.ts";
import { once } from "../../base/lazy.ts";
import { http } from "../../base/node-http.ts";
import { toProxies } from "../../config/proxy-config.ts";
import { readProxySettings } from "../../config/settings.ts";

let proxies = once(() => toProxies(readProxySettings({})));

/** Sets where the requests of a command go. Nothing is read before the first one. */
export function useProxiesOf(environment: NodeJS.ProcessEnv): void {
  proxies = once(() => toProxies(readProxySettings(environment)));
}

/** Begins a request; by the proxy that its URL is asked through. */
export function beginFetch(address: string | URL, init: RequestInit): Promise<Response> {
  const proxy = proxyFor(new URL(address), proxies());
  if (!proxy) return fetch(address, init);
  // `fetch` takes the dispatcher when it is called, so that others who fetch at the same time keep theirs.
  const restore = http().setGlobalProxyFromEnv({ http_proxy: proxy.href, https_proxy: proxy.href });
  try {
    return fetch(address, init);
  } finally {
    restore();
  }
}

/** Opens the connection to a server of HTTP/2 that is asked through a proxy; undefined for one that is asked directly. */
export async function connectThroughProxy(address: string, timeoutMs: number): Promise<Duplex | undefined> {
  const url = new URL(address);
  const proxy = proxyFor(url, proxies());
  if (!proxy) return undefined;
  const socket = await openTunnel(proxy, url, AbortSignal.timeout(timeoutMs));
  if (url.protocol === "http:") return socket;
  const host = bareHost(url);
  return connectTls({ socket, host, ALPNProtocols: ["h2"], ...(isIP(host) === 0 && { servername: host }) });
}
