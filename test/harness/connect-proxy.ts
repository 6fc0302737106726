// A proxy as companies have them: CONNECT for https, whole URLs for http. It alone knows where the hosts of a test are.
import { createServer, request } from "node:http";
import { type AddressInfo, connect } from "node:net";

/** Starts a proxy on loopback; `ports` are those of the hosts that it knows, and to others it answers 502. */
export async function startProxy(ports: Record<string, number>) {
  const asked: string[] = [];
  const server = createServer((incoming, response) => {
    const url = new URL(incoming.url ?? "");
    asked.push(`${incoming.method} ${url.href}`);
    const { method, headers } = incoming;
    const options = {
      port: ports[url.hostname] ?? 1,
      path: url.pathname + url.search,
      method: method ?? "GET",
      headers,
    };
    const forwarded = request({ host: "127.0.0.1", ...options }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    forwarded.on("error", () => response.writeHead(502).end());
    incoming.pipe(forwarded);
  });
  server.on("connect", (incoming, client) => {
    const credentials = /^Basic (.*)$/.exec(incoming.headers["proxy-authorization"] ?? "")?.[1];
    const user = credentials === undefined ? "" : ` as ${Buffer.from(credentials, "base64")}`;
    asked.push(`CONNECT ${incoming.url}${user}`);
    client.on("error", () => {});
    const port = ports[(incoming.url ?? "").split(":")[0]!];
    if (port === undefined) return client.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    const upstream = connect(port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on("error", () => client.destroy());
    upstream.on("close", () => client.destroy());
    client.on("close", () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
