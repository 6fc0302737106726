// RFC 9113 §10.5: frames that cost a client of HTTP/2 nothing, and the server some work. What they may be without work for its client is
// bounded for each session.
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Clock } from "../../base/clock.ts";
import type { OnLimit } from "./limit-counters.ts";
import type { ListenerLimits } from "./limits.ts";
import { newBudget } from "./token-bucket.ts";

/** Bounds the frames of one session. */
export interface FloodBounds {
  /** Counts a stream that begins. */
  begins(): void;
  /** Counts a stream that has closed. `othersRun` says whether other streams of the session are open. */
  ends(stream: ServerHttp2Stream, othersRun: () => boolean): void;
  /** Whether the client has lately reset more streams than it let be answered. */
  hasResets(): boolean;
  /** Ends the session once those that its resets ended gracefully have had their time. */
  look(now: number): void;
}

// gRPC clients ping to measure the connection while data flows, up to once per reply and more for a long one.
const controlFramesPerStream = 10;

/**
 * Bounds what a session costs beyond its requests.
 *
 * Too many control frames (PING, SETTINGS) end it at once. So do too many resets where nothing else runs; where something does, the client
 * gets GOAWAY with the last stream that is served, those that run finish, and later ones are the client's to try elsewhere (§6.8).
 */
export function boundFloods(
  session: ServerHttp2Session,
  limits: ListenerLimits,
  onLimit: OnLimit,
  clock: Clock,
): FloodBounds {
  const controlFrames = newBudget(limits.controlFrameBurst, limits.controlFrameRate, clock);
  const resets = newBudget(limits.streamResetBurst, limits.streamResetRate, clock);
  let endsBy = Number.POSITIVE_INFINITY;

  const end = (problem: string): void => session.destroy(new Error(problem), constants.NGHTTP2_ENHANCE_YOUR_CALM);
  const spendControlFrame = (): void => {
    if (controlFrames.spend() || session.destroyed) return;
    onLimit("control frames");
    end("too many control frames");
  };
  session.on("ping", spendControlFrame);
  session.on("remoteSettings", spendControlFrame);

  return {
    begins: () => controlFrames.refund(controlFramesPerStream),
    ends(stream, othersRun) {
      if (!isReset(stream)) resets.refund(1);
      else if (!resets.spend() && endsBy === Number.POSITIVE_INFINITY && !session.destroyed) {
        onLimit("stream resets");
        endsBy = performance.now() + limits.resetGraceMs;
        // Clients that use node:http2 give up all calls on a GOAWAY with any other code than NO_ERROR, which `close` sends.
        if (othersRun()) session.close();
        else end("too many resets");
      }
    },
    hasResets: () => !resets.isFull(),
    look(now) {
      if (now > endsBy && !session.destroyed) end("too many resets");
    },
  };
}

/** Whether a closed stream was reset before its response was written; node ends a stream that is reset, too. */
function isReset(stream: ServerHttp2Stream): boolean {
  return stream.aborted || (stream.rstCode !== constants.NGHTTP2_NO_ERROR && !stream.writableFinished);
}
