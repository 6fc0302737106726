// RFC 9113 §10.5: frames that cost an HTTP/2 client nothing and the server some work are limited for each session.
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Clock } from "../../base/clock.ts";
import type { CountLimit } from "./limit-counters.ts";
import type { ListenerLimits } from "./limits.ts";
import { newTokenBucket } from "./token-bucket.ts";

/** Limits the frames of one session. */
export interface FloodLimiter {
  /** Counts a stream that opens. */
  streamOpened(): void;
  /** Counts a stream that has closed. `hasOpenStreams` says whether other streams of the session are open. */
  streamClosed(stream: ServerHttp2Stream, hasOpenStreams: () => boolean): void;
  /** Whether the client has recently reset more streams than it let complete. */
  hasResets(): boolean;
  /** Ends the session once the grace period after too many resets is over. */
  check(now: number): void;
}

/** The session to limit, and how. */
export interface FloodOptions {
  readonly session: ServerHttp2Session;
  readonly limits: ListenerLimits;
  readonly countLimit: CountLimit;
  readonly clock: Clock;
}

// gRPC clients ping to measure the connection while data flows, up to once per response and more for a long one.
const controlFramesPerStream = 10;

/**
 * Limits the work that a session causes beyond its requests.
 *
 * Too many control frames (PING, SETTINGS) end it at once, as do too many resets while no other stream is open. Otherwise the client gets GOAWAY
 * with the last stream that is served: open streams complete, and the client may retry later ones elsewhere (§6.8).
 */
export function newFloodLimiter({ session, limits, countLimit, clock }: FloodOptions): FloodLimiter {
  const controlFrames = newTokenBucket(limits.controlFrameBurst, limits.controlFrameRate, clock);
  const resets = newTokenBucket(limits.streamResetBurst, limits.streamResetRate, clock);
  let endsBy = Number.POSITIVE_INFINITY;

  const end = (problem: string): void => session.destroy(new Error(problem), constants.NGHTTP2_ENHANCE_YOUR_CALM);
  const countControlFrame = (): void => {
    if (controlFrames.spend() || session.destroyed) return;
    countLimit("control frames");
    end("too many control frames");
  };
  session.on("ping", countControlFrame);
  session.on("remoteSettings", countControlFrame);

  return {
    streamOpened: () => controlFrames.refund(controlFramesPerStream),
    streamClosed(stream, hasOpenStreams) {
      if (!isReset(stream)) resets.refund(1);
      else if (!resets.spend() && endsBy === Number.POSITIVE_INFINITY && !session.destroyed) {
        countLimit("stream resets");
        endsBy = performance.now() + limits.resetGraceMs;
        // `close` sends NO_ERROR: on any other code, clients with node:http2 give up all their calls.
        if (hasOpenStreams()) session.close();
        else end("too many resets");
      }
    },
    hasResets: () => !resets.isFull(),
    check(now) {
      if (now > endsBy && !session.destroyed) end("too many resets");
    },
  };
}

/** Whether a closed stream was reset before its response was written. node also ends a reset stream. */
function isReset(stream: ServerHttp2Stream): boolean {
  return stream.aborted || (stream.rstCode !== constants.NGHTTP2_NO_ERROR && !stream.writableFinished);
}
