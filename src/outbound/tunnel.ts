// Connections through an HTTP proxy by CONNECT (RFC 9110 §9.3.6).
import type { ClientRequest } from "node:http";
import type { Socket } from "node:net";
import { bareHost } from "../base/address-ranges.ts";
import { http } from "../base/node-http.ts";
import { portOf } from "../base/proxies.ts";

/** A proxy that failed. The message contains neither its name nor its credentials. */
export class ProxyError extends Error {
  override readonly name = "ProxyError";
  readonly code = "ERR_PROXY";
}

/** Opens a connection to the host and port of a URL through a proxy. Rejects with a ProxyError. */
export async function openTunnel(proxy: URL, target: URL, signal: AbortSignal): Promise<Socket> {
  const authority = `${target.hostname}:${portOf(target)}`;
  const headers = { host: authority, ...proxyAuthorization(proxy) };
  return await new Promise((resolve, reject) => {
    const asking = askProxy(proxy, { method: "CONNECT", path: authority, headers, signal });
    asking.on("connect", ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
      if (statusCode >= 200 && statusCode < 300 && head.length === 0) return resolve(socket);
      socket.destroy();
      reject(new ProxyError(`the proxy answers ${statusCode} to CONNECT`));
    });
    asking.on("error", (cause) => reject(new ProxyError("the proxy does not answer", { cause })));
    asking.on("close", () => reject(new ProxyError("the proxy does not answer")));
    asking.end();
  });
}

/** Starts a request to a proxy itself. */
export function askProxy(
  proxy: URL,
  request: { method: string; path: string; headers: Readonly<Record<string, string | number>>; signal: AbortSignal },
): ClientRequest {
  const open = proxy.protocol === "https:" ? process.getBuiltinModule("node:https").request : http.request;
  return open({ ...request, host: bareHost(proxy), port: portOf(proxy), agent: false });
}

/** Returns the Proxy-Authorization header (RFC 9110 §11.7.2), or no header for a proxy without credentials. */
export function proxyAuthorization({ username, password }: URL): Record<string, string> {
  if (username === "" && password === "") return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` };
}
