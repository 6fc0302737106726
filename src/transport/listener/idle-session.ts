// Closes HTTP/2 sessions that are idle. The listener's sweep compares byte counts of the socket: node would restart a timer of its own with
// every frame, which takes 2 % of the CPU time of a small call.
import type { ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { ListenerLimits } from "./limits.ts";

/** The session to watch. */
export interface WatchedSession {
  readonly session: ServerHttp2Session;
  /** The socket itself: the one that the session shows forbids some calls. */
  readonly socket: Socket;
  hasStreams(): boolean;
  /** Ends the session at once, with its streams. */
  cutOff(): void;
}

/** Closes a session that is idle, and cuts it off if its client no longer responds. */
export interface IdleWatch {
  /** Acts on the state by now, in milliseconds of `performance.now`. */
  check(now: number): void;
}

/**
 * Watches a session that begins now. Pings of the client keep it open, as gRPC clients expect.
 *
 * Longer than 40 lines because its functions share the state of one session.
 */
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

  /** Checks that the client is there while a stream is open and quiet, such as a watch. */
  function ping(): void {
    isPinged = true;
    session.ping((error) => {
      if (error === null) stayOpen();
    });
  }

  function endQuiet(): void {
    const isIdle = !hasStreams();
    // A destroyed session accepts no ping, and may still wait for its socket.
    if (isPinged || session.destroyed || (isIdle && session.closed)) {
      cutOff();
      return;
    }
    timeoutMs = limits.prefaceTimeoutMs;
    if (isIdle) session.close();
    else ping();
  }

  return {
    check(now) {
      const moved = socket.bytesRead + socket.bytesWritten;
      // RFC 9113 §3.4: a client begins with SETTINGS. Before those have arrived, and after GOAWAY without streams, bytes do not keep it open.
      const isQuiet = moved === bytes || !hasBegun || (session.closed && !hasStreams());
      if (isQuiet && now - quietSince < timeoutMs) return;
      bytes = moved;
      quietSince = now;
      if (isQuiet) endQuiet();
    },
  };
}
