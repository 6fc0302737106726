// A TCP proxy before PostgreSQL, which tests use to stop, delay and redirect what passes.
import { connect, createServer, type Socket } from "node:net";

export interface PostgresProxy extends AsyncDisposable {
  /** The URL that was given, through the proxy. */
  readonly url: string;
  /** The port that new connections are forwarded to. */
  target: number;
  /** Awaited before each request passes; a message of the protocol, or several that were sent together. */
  beforeRequest: ((request: Buffer) => Promise<void>) | undefined;
  /** Awaited before each response passes, with the request that came last on its connection. */
  beforeResponse: ((request: Buffer) => Promise<void>) | undefined;
  /** Ends all connections; new ones work. */
  cut(): void;
}

/** Listens on a free port and passes on what comes to the port of a database URL. */
export async function openPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const url = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(proxy.target, "127.0.0.1");
    let last: Buffer = Buffer.alloc(0);
    passOn(client, upstream, async (request) => {
      last = request;
      await proxy.beforeRequest?.(request);
    });
    passOn(upstream, client, async () => await proxy.beforeResponse?.(last));
  });

  function passOn(from: Socket, to: Socket, before: (data: Buffer) => Promise<void>): void {
    sockets.add(from);
    // In order: each waits for those before it.
    let last = Promise.resolve();
    from.on("data", (data: Buffer) => {
      const released = before(data);
      last = Promise.all([last, released]).then(() => void to.write(data));
    });
    from.on("error", () => {});
    from.once("close", () => {
      sockets.delete(from);
      void last.then(() => to.destroy());
    });
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const target = Number(url.port);
  url.port = String((server.address() as { port: number }).port);
  const proxy: PostgresProxy = {
    url: url.href,
    target,
    beforeRequest: undefined,
    beforeResponse: undefined,
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      proxy.cut();
      await new Promise((closed) => server.close(closed));
    },
  };
  return proxy;
}
