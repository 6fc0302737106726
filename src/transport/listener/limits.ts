import type { ChunkLimits } from "../http/chunk-limits.ts";

/**
 * Every bound of the listener. Node leaves most of them open, or generous; a server on the internet can't.
 *
 * Times are milliseconds. `headersTimeoutMs` must not exceed `requestTimeoutMs`.
 */
export interface ListenerLimits extends ChunkLimits {
  /** Connections at once; for the next one a silent one of the largest holder is closed. */
  readonly maxConnections: number;
  /** Those of one client, which is an IPv4 address or an IPv6 /64, unless it is a trusted proxy. */
  readonly maxConnectionsPerClient: number;
  /** Those of one network, which is an IPv4 /24 or an IPv6 /48, trusted proxies aside. */
  readonly maxConnectionsPerNetwork: number;
  /** The age of a connection at which its client is asked to reconnect, 10 % more or less; undefined for never. */
  readonly maxConnectionAgeMs: number | undefined;
  /** From accepting a connection to its first bytes, of a TLS handshake, and to the SETTINGS of an HTTP/2 client. */
  readonly prefaceTimeoutMs: number;
  /** From the first byte of an HTTP/1 request to the end of its headers. */
  readonly headersTimeoutMs: number;
  /**
   * From the first byte of a request to the last one of its body, in either version of HTTP; and how long an HTTP/2 client may
   * take for a reply that is there.
   */
  readonly requestTimeoutMs: number;
  /** How long an HTTP/1 connection may wait for its next request. */
  readonly keepAliveTimeoutMs: number;
  /** How long an HTTP/1 client may take no byte of a reply that waits for it. */
  readonly stallTimeoutMs: number;
  /** Bytes of the headers of one request, each line counted with 32 more as HTTP/2 does (RFC 9113 §6.5.2). */
  readonly maxHeaderBytes: number;
  /** Header lines of one request. */
  readonly maxHeadersCount: number;
  /** Requests of one HTTP/1 connection whose replies are owed. */
  readonly maxPipelinedRequests: number;
  /**
   * Of these, how many are worked on at once, or have replies that the client has not taken: each may be megabytes. Over HTTP/1
   * the first begins as it comes, over HTTP/2 that many of a connection do; of further ones as many begin in a turn of the event
   * loop.
   */
  readonly maxRequestsAtOnce: number;
  /**
   * Streams that an HTTP/2 client may have open. Node counts those that were reset in the same read among them, and rejects others
   * for them: a client that cancels a thousand calls and makes new ones needs as much room again.
   */
  readonly maxConcurrentStreams: number;
  /** Of these, how many are answered at once; the rest waits. */
  readonly maxRunningStreams: number;
  /** Bytes that the headers of all open streams of a session may have; a stream beyond is refused. */
  readonly maxSessionHeaderBytes: number;
  /** Bytes of replies that a client may leave untaken before requests that do not begin as they come wait until it takes some. */
  readonly maxUnreadBytesOfClient: number;
  /** Bytes of replies that all clients together may leave untaken; beyond that, those who left most are cut off. */
  readonly maxUnreadBytes: number;
  /** How often to look at what is untaken. */
  readonly unreadIntervalMs: number;
  /** Megabytes that an HTTP/2 session may hold (queued replies, header tables) before it gets no new streams. */
  readonly maxSessionMemoryMb: number;
  /** An HTTP/2 session without a frame, PING included, for that long is closed. Clients ping every 30 s, so stay well above. */
  readonly http2IdleTimeoutMs: number;
  /** Streams that an HTTP/2 client may reset in a burst, beyond those that it lets be answered; more end the session. */
  readonly streamResetBurst: number;
  /** Resets a second that an HTTP/2 client may keep up, besides one for each stream that it lets be answered. */
  readonly streamResetRate: number;
  /** How long the running calls of a session have that ends for its resets. */
  readonly resetGraceMs: number;
  /** PING and SETTINGS frames that an HTTP/2 client may send in a burst; more end the session. */
  readonly controlFrameBurst: number;
  /** Such frames a second that it may keep up, besides those that come with its requests. */
  readonly controlFrameRate: number;
  /** Longest announced body whose rest is read behind an early response so that the HTTP/1 connection serves another request. */
  readonly maxKeptBodyBytes: number;
  /** Bytes of a request that are read and discarded once its response is complete. */
  readonly maxDiscardedBytes: number;
  /** How long they are read for. */
  readonly discardTimeoutMs: number;
  /** How long the client may send none of them before its connection (HTTP/1) or stream (HTTP/2) is closed. */
  readonly discardStallMs: number;
}

/** Limits that no well-behaved client meets. */
export const defaultLimits: ListenerLimits = {
  maxConnections: 4096,
  maxConnectionsPerClient: 1024,
  maxConnectionsPerNetwork: 2048,
  maxConnectionAgeMs: undefined,
  prefaceTimeoutMs: 10_000,
  headersTimeoutMs: 20_000,
  requestTimeoutMs: 300_000,
  keepAliveTimeoutMs: 75_000,
  stallTimeoutMs: 120_000,
  maxHeaderBytes: 32 * 1024,
  maxHeadersCount: 100,
  maxPipelinedRequests: 64,
  maxRequestsAtOnce: 8,
  maxConcurrentStreams: 2500,
  // RFC 9113 §6.5.2 advises no fewer than 100.
  maxRunningStreams: 200,
  maxSessionHeaderBytes: 6 * 1024 * 1024,
  maxUnreadBytesOfClient: 4 * 1024 * 1024,
  maxUnreadBytes: 128 * 1024 * 1024,
  unreadIntervalMs: 250,
  maxSessionMemoryMb: 32,
  http2IdleTimeoutMs: 150_000,
  // A client that gives up on a thousand calls at once, several times over.
  streamResetBurst: 4000,
  streamResetRate: 200,
  resetGraceMs: 30_000,
  controlFrameBurst: 1000,
  controlFrameRate: 100,
  maxKeptBodyBytes: 4 * 1024 * 1024,
  // A client that sends all of its body before it reads, at 3 MB/s.
  maxDiscardedBytes: 64 * 1024 * 1024,
  discardTimeoutMs: 30_000,
  discardStallMs: 5000,
  freeChunks: 1024,
  meanChunkBytes: 128,
};

/** The same for a listener whose clients are a few collectors of metrics. */
export const metricsLimits: ListenerLimits = {
  ...defaultLimits,
  maxConnections: 64,
  maxConnectionsPerClient: 16,
  maxConnectionsPerNetwork: 32,
};

/** How often to look for what has timed out: often enough that a limit is met within a quarter of its time. */
export function checkInterval(limits: ListenerLimits): number {
  const { prefaceTimeoutMs, headersTimeoutMs, requestTimeoutMs, http2IdleTimeoutMs, resetGraceMs } = limits;
  const shortest = Math.min(prefaceTimeoutMs, headersTimeoutMs, requestTimeoutMs, http2IdleTimeoutMs, resetGraceMs);
  return Math.max(10, Math.floor(shortest / 4));
}
