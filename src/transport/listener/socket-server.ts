import type { Socket } from "node:net";

/** A server of one HTTP version. It never listens: the listener gives it sockets. */
export interface SocketServer {
  accept(socket: Socket): void;
  /** Starts draining: tells clients to disconnect and closes idle connections. Requests in progress continue. Call it repeatedly until no connection is left. */
  retire(): void;
  /** The connections whose clients have not read all of their responses. */
  backlogs(): Backlog[];
  /** Stops the timers. The sockets are the caller's to destroy. */
  close(): void;
}

/** The unsent bytes of one connection. */
export interface Backlog {
  /** As the streams count: bytes, or characters of a text that is not encoded yet. */
  readonly bytes: number;
  /** Closes the connection, which frees the memory. */
  cancel(): void;
}

/** A listener of errors that are handled elsewhere. */
export function ignore(): void {}
