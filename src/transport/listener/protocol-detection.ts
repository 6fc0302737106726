import type { Socket } from "node:net";

/** The HTTP version of a connection. */
export type Protocol = "http1" | "http2";

// RFC 9113 §3.4: the client preface. No HTTP/1 request starts so: PRI is a reserved method.
const preface = Buffer.from("PRI ");

/** Returns the protocol by the first bytes of a connection; undefined if there are too few. */
export function protocolOf(start: Buffer): Protocol | undefined {
  const length = Math.min(start.length, preface.length);
  if (!start.subarray(0, length).equals(preface.subarray(0, length))) return "http1";
  return length === preface.length ? "http2" : undefined;
}

/**
 * Waits for the first bytes of a connection, puts them back, and calls `detected`.
 *
 * Destroys a socket that is silent for `timeoutMs`: no HTTP server has it yet, so no other timeout applies.
 */
export function detectProtocol(socket: Socket, timeoutMs: number, detected: (protocol: Protocol) => void): void {
  let held: Buffer = Buffer.alloc(0);
  const timer = setTimeout(() => socket.destroy(), timeoutMs);
  const stopTimer = (): void => clearTimeout(timer);

  const onReadable = (): void => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    // Kept here: after putting them back, the socket would be readable again at once, in an endless loop.
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const protocol = protocolOf(held);
    if (protocol === undefined) return;
    stopTimer();
    socket.off("readable", onReadable);
    socket.off("close", stopTimer);
    socket.unshift(held);
    detected(protocol);
  };
  socket.on("readable", onReadable);
  socket.on("close", stopTimer);
}
