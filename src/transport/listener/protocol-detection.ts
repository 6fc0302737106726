import type { Socket } from "node:net";

/** What a connection speaks. */
export type Protocol = "http1" | "http2";

// RFC 9113 §3.4: the client preface. No HTTP/1 request starts so: PRI is a reserved method.
const preface = Buffer.from("PRI ");

/** Tells the protocol by the first bytes of a connection; undefined while there are too few. */
export function protocolOf(start: Buffer): Protocol | undefined {
  const length = Math.min(start.length, preface.length);
  if (!start.subarray(0, length).equals(preface.subarray(0, length))) return "http1";
  return length === preface.length ? "http2" : undefined;
}

/**
 * Waits for the first bytes of a connection and calls `detected`, with all bytes put back.
 *
 * A socket that stays silent for `timeoutMs` is destroyed: no HTTP server knows of it yet, so no other timeout would.
 */
export function detectProtocol(socket: Socket, timeoutMs: number, detected: (protocol: Protocol) => void): void {
  let held: Buffer = Buffer.alloc(0);
  const timer = setTimeout(() => socket.destroy(), timeoutMs);
  const stopTimer = (): void => clearTimeout(timer);

  const onReadable = (): void => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    // Held here rather than put back and waited for, which would make the socket readable again at once, for ever.
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
