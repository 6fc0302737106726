import type { ChunkLimits } from "../http/chunk-limits.ts";

/**
 * The limits of the listener. node's defaults are missing or too generous for a server on the internet.
 *
 * Times are milliseconds. `headersTimeoutMs` must not exceed `requestTimeoutMs`.
 */
export interface ListenerLimits extends ChunkLimits {
  /** Open connections. For one more, an idle one of the largest client is closed: see connection-shares.ts. */
  readonly maxConnections: number;
  /** Open connections of one client: an IPv4 address or an IPv6 /64 that is not a trusted proxy. */
  readonly maxConnectionsPerClient: number;
  /** Open connections of one network: an IPv4 /24 or an IPv6 /48, without trusted proxies. */
  readonly maxConnectionsPerNetwork: number;
  /** The age of a connection at which its client is asked to reconnect, ±10 %; never if undefined. */
  readonly maxConnectionAgeMs: number | undefined;
  /** For the first bytes of a connection, for a TLS handshake, and for the SETTINGS of an HTTP/2 client. */
  readonly prefaceTimeoutMs: number;
  /** From the first byte of an HTTP/1 request to the end of its headers. */
  readonly headersTimeoutMs: number;
  /**
   * From the first byte of a request to the last one of its body; and how long an HTTP/2 client may take to read a complete
   * response.
   */
  readonly requestTimeoutMs: number;
  /** How long an HTTP/1 connection may wait for its next request. */
  readonly keepAliveTimeoutMs: number;
  /** How long an HTTP/1 client may read no byte of a response. */
  readonly stallTimeoutMs: number;
  /** Bytes of the headers of one request, each line counted with 32 more as HTTP/2 does (RFC 9113 §6.5.2). */
  readonly maxHeaderBytes: number;
  /** Header lines of one request. */
  readonly maxHeadersCount: number;
  /** Requests of one HTTP/1 connection whose responses have not ended. */
  readonly maxPipelinedRequests: number;
  /**
   * Of these, how many are in progress or have unread responses at once: each may be megabytes. Over HTTP/1 the first request starts
   * on arrival, over HTTP/2 this many of a connection do; of later ones as many start per event-loop tick.
   */
  readonly maxRequestsAtOnce: number;
  /**
   * Open streams of an HTTP/2 session. node includes streams that were reset in the same read: a client that cancels a thousand calls and
   * makes new ones needs twice the room.
   */
  readonly maxConcurrentStreams: number;
  /** Of these, how many are in progress at once; the rest waits. Idle streams without an end, such as health watches, are not counted. */
  readonly maxRunningStreams: number;
  /** Bytes of the headers of all open streams of a session; one more stream is rejected. */
  readonly maxSessionHeaderBytes: number;
  /** Unsent response bytes of a connection above which its waiting requests do not start. */
  readonly maxUnreadBytesOfClient: number;
  /** Unsent response bytes of all connections; above, the connections with the most are closed. */
  readonly maxUnreadBytes: number;
  /** How often unsent bytes are counted. */
  readonly unreadIntervalMs: number;
  /** Megabytes of an HTTP/2 session (queued responses, header tables) above which it gets no new streams. */
  readonly maxSessionMemoryMb: number;
  /** How long an HTTP/2 session may be without a frame, PING included. Clients ping every 30 s: stay well above. */
  readonly http2IdleTimeoutMs: number;
  /** Streams that an HTTP/2 client may reset in a burst, beyond one for each stream that completes; more end the session. */
  readonly streamResetBurst: number;
  /** Resets per second that an HTTP/2 client may sustain, besides one for each stream that completes. */
  readonly streamResetRate: number;
  /** How long the open streams of a session that has too many resets may take to complete. */
  readonly resetGraceMs: number;
  /** PING and SETTINGS frames that an HTTP/2 client may send in a burst; more end the session. */
  readonly controlFrameBurst: number;
  /** Such frames per second that it may sustain, besides those that belong to its requests. */
  readonly controlFrameRate: number;
  /** The longest announced body whose rest is read after an early response to keep the HTTP/1 connection open. */
  readonly maxKeptBodyBytes: number;
  /** Bytes of a request that are read and discarded after its response. */
  readonly maxDiscardedBytes: number;
  /** The maximum time of reading them, in milliseconds. */
  readonly discardTimeoutMs: number;
  /** How long the client may send none of them before the HTTP/1 connection or HTTP/2 stream is closed. */
  readonly discardStallMs: number;
}

/** Limits that well-behaved clients do not meet. */
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
  // A client that cancels a thousand calls at once, several times.
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

/** Limits for a listener whose clients are a few metrics collectors. */
export const metricsLimits: ListenerLimits = {
  ...defaultLimits,
  maxConnections: 64,
  maxConnectionsPerClient: 16,
  maxConnectionsPerNetwork: 32,
};

/** Returns how often to check for timeouts: each is noticed at most a quarter of its time late. */
export function checkInterval(limits: ListenerLimits): number {
  const { prefaceTimeoutMs, headersTimeoutMs, requestTimeoutMs, http2IdleTimeoutMs, resetGraceMs } = limits;
  const shortest = Math.min(prefaceTimeoutMs, headersTimeoutMs, requestTimeoutMs, http2IdleTimeoutMs, resetGraceMs);
  return Math.max(10, Math.floor(shortest / 4));
}
