// The state of one HTTP/1 connection: which responses are pending, and what may still follow them.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type Peer, peerOf } from "../http/peer.ts";
import type { RequestQueue } from "./request-scheduler.ts";

/** One HTTP/1 connection. */
export interface Http1Connection extends RequestQueue {
  readonly socket: Socket;
  readonly peer: Peer;
  /** Whether the next response asks the client to reconnect. */
  mustReconnect: boolean;
  /** The responses that have not ended, in order. A list rather than a Set: decision 0019. */
  readonly pendingResponses: ServerResponse[];
  /** Starts of requests above `maxRequestsAtOnce`. One is scheduled whenever a response completes. */
  readonly deferred: (() => void)[];
  /** Whether it closes after the pending responses: later requests are ignored. */
  closesAfterPending: boolean;
  /** Whether the last response is written: what still arrives is discarded. */
  isClosing: boolean;
  /** A request whose response ended before its body. */
  unfinished: IncomingMessage | undefined;
  /** How many requests were ignored. */
  ignoredRequests: number;
}

/** Makes the state of a connection that was just accepted. */
export function newHttp1Connection(socket: Socket): Http1Connection {
  const pendingResponses: ServerResponse[] = [];
  return {
    socket,
    peer: peerOf(socket),
    mustReconnect: false,
    pendingResponses,
    deferred: [],
    waiting: [],
    // Only the first of them counts the bytes in the socket: the others do not have it yet.
    unsentBytes: () => pendingResponses.reduce((sum, { writableLength }) => sum + writableLength, 0),
    closesAfterPending: false,
    isClosing: false,
    unfinished: undefined,
    ignoredRequests: 0,
  };
}

/** Forgets the requests that have not started. */
export function dropWaiting({ deferred, waiting }: Http1Connection): void {
  deferred.length = 0;
  waiting.length = 0;
}

/** Whether a waiting request may start. RFC 9112 §9.6: a response before it may have come to say `close`. */
export function mayStart({ pendingResponses }: Http1Connection, response: ServerResponse): boolean {
  return pendingResponses.find((each) => each === response || !each.shouldKeepAlive) === response;
}

/** Whether the connection closes after the pending responses. */
export function closesItself({ pendingResponses, closesAfterPending }: Http1Connection): boolean {
  return closesAfterPending || pendingResponses.some(({ shouldKeepAlive }) => !shouldKeepAlive);
}

/** Closes the connection after its pending responses. Without any, it stays open. */
export function closeAfterPending(connection: Http1Connection): void {
  const last = connection.pendingResponses.at(-1);
  if (!last || connection.closesAfterPending) return;
  connection.closesAfterPending = true;
  if (!last.headersSent) last.shouldKeepAlive = false;
  else last.once("close", () => connection.socket.destroySoon());
}

/** Whether a parse error may be answered: a status must only stand for the broken request, not for one before it. */
export function mayRespondToError({ pendingResponses, unfinished }: Http1Connection): boolean {
  // The body of a request broke that has its response: the client would take a second one for that of its next request.
  if (unfinished && !unfinished.complete) return false;
  if (pendingResponses.length === 0) return true;
  const [first] = pendingResponses;
  return pendingResponses.length === 1 && first !== undefined && !first.headersSent && !first.req.complete;
}

/** Whether nothing follows the request whose response is the last. */
export function endsWithLastRequest({ pendingResponses, ignoredRequests }: Http1Connection): boolean {
  return pendingResponses.length === 1 && pendingResponses[0]!.req.complete && ignoredRequests === 0;
}

/** Whether all pending requests are complete: a parse error then concerns a later one. */
export function hasOnlyCompleteRequests({ pendingResponses }: Http1Connection): boolean {
  return pendingResponses.length > 0 && pendingResponses.every(({ req }) => req.complete);
}
