// When a session of HTTP/2 has been quiet for too long. The sweep of its listener compares what has gone over the socket: a timer of
// node's own would be set anew with every frame, which is two hundredths of what a small call costs.
import type { ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { ListenerLimits } from "./limits.ts";

/** A session as it is watched. */
export interface WatchedSession {
  readonly session: ServerHttp2Session;
  /** Not that of the session, which does not let everything be done with it. */
  readonly socket: Socket;
  hasStreams(): boolean;
  /** Ends it at once, whatever is under way. */
  cutOff(): void;
}

/** Has the session closed when it is idle, and cut off when its client answers no more. */
export interface IdleWatch {
  /** Does what is due now, in milliseconds of `performance.now`. */
  look(now: number): void;
}

/** Watches a session that begins now. A client that pings keeps it, as gRPC clients expect. */
export function watchIdle({ session, socket, hasStreams, cutOff }: WatchedSession, limits: ListenerLimits): IdleWatch {
  let bytes = 0;
  let quietSince = performance.now();
  let timeoutMs = limits.prefaceTimeoutMs;
  let hasBegun = false;
  let isPinged = false;

  const stayOpen = (): void => {
    hasBegun = true;
    isPinged = false;
    timeoutMs = limits.http2IdleTimeoutMs;
  };
  session.once("remoteSettings", stayOpen);

  /** Asks whether anybody is there, where a stream is open and quiet, such as a watch. */
  function ping(): void {
    isPinged = true;
    session.ping((error) => {
      if (error === null) stayOpen();
    });
  }

  function endQuiet(): void {
    const isIdle = !hasStreams();
    // A session that is destroyed takes no ping, and may still wait for its socket.
    if (isPinged || session.destroyed || (isIdle && session.closed)) {
      cutOff();
      return;
    }
    timeoutMs = limits.prefaceTimeoutMs;
    if (isIdle) session.close();
    else ping();
  }

  return {
    look(now) {
      const moved = socket.bytesRead + socket.bytesWritten;
      // RFC 9113 §3.4: a client begins with SETTINGS. Before those are there whole, and once it is to leave, nothing keeps it.
      const isQuiet = moved === bytes || !hasBegun || (session.closed && !hasStreams());
      if (isQuiet && now - quietSince < timeoutMs) return;
      bytes = moved;
      quietSince = now;
      if (isQuiet) endQuiet();
    },
  };
}
