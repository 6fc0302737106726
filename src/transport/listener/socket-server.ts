import type { Socket } from "node:net";

/** A server of one HTTP version. It never listens: the listener gives it sockets. */
export interface SocketServer {
  accept(socket: Socket): void;
  /** Returns the connections whose clients have not read all of their responses. */
  backlogs(): Backlog[];
  /**
   * Drains: tells clients to disconnect, closes idle connections, and waits for those with requests in progress. Resolves when the last
   * connection is closed. No socket may be accepted from then on.
   */
  drain(): Promise<void>;
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
