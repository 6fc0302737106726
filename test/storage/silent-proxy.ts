// A proxy whose connections can stop responding: neither end receives data or learns of it.
import { connect, createServer, type Socket } from "node:net";

export interface SilentProxy extends AsyncDisposable {
  readonly port: number;
  /** How many connections were made so far. */
  accepted(): number;
  /** Stops forwarding on current connections; new ones work, unless `all` is set. */
  silence(options?: { readonly all: boolean }): void;
}

/** Listens on a free port, and forwards to another port of this machine. */
export async function openSilentProxy(target: number): Promise<SilentProxy> {
  const sockets = new Set<Socket>();
  let accepted = 0;
  let isSilent = false;
  const server = createServer((client) => {
    accepted++;
    keep(client);
    if (isSilent) return void client.pause();
    const upstream = connect(target, "127.0.0.1");
    keep(upstream);
    client.pipe(upstream);
    upstream.pipe(client);
  });

  function keep(socket: Socket): void {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { port: number }).port,
    accepted: () => accepted,
    silence({ all } = { all: false }) {
      isSilent = all;
      for (const socket of sockets) {
        socket.unpipe();
        socket.pause();
      }
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}
