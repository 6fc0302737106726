// A proxy that counts round trips: what a client sends without waiting for a response is one.
import { connect, createServer, type Socket } from "node:net";

export interface CountingProxy extends AsyncDisposable {
  readonly port: number;
  /** How many times a client has sent something, and then waited. */
  sent(): number;
}

/** How long to wait for what a client sends together, in milliseconds. */
const togetherMs = 20;

/** Listens on a free port, and forwards to another port of this machine. */
export async function openCountingProxy(target: number): Promise<CountingProxy> {
  const sockets = new Set<Socket>();
  let sent = 0;
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => sockets.delete(socket));
    }
    let waiting: Buffer[] = [];
    client.on("data", (chunk: Buffer) => {
      if (waiting.push(chunk) > 1) return;
      setTimeout(() => {
        sent++;
        upstream.write(Buffer.concat(waiting));
        waiting = [];
      }, togetherMs);
    });
    client.once("end", () => upstream.end());
    upstream.pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { port: number }).port,
    sent: () => sent,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}
