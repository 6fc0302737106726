// Follows streams of changes across servers that stop and connections that break.
import { Code, ConnectError } from "@connectrpc/connect";
import type { WatchChangesResponse } from "../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { errorDetails } from "./errors.ts";
import { sleep } from "./retry.ts";

/** Opens a stream behind a position, which is empty for the first stream of a client that has none. Pass the signal to the call. */
export type OpenWatch = (after: string, signal: AbortSignal) => AsyncIterable<WatchChangesResponse>;

/** The options of following a stream. */
export interface WatchOptions {
  /** The position to begin behind; now if absent. */
  readonly after?: string;
  /** Aborting it ends the iteration. */
  readonly signal?: AbortSignal;
  /** How many streams may fail in a row before a response; without limit if absent. */
  readonly retries?: number;
  /** How long a stream may send nothing, in milliseconds: 45 s if absent. A server sends something every 15 s. */
  readonly maxSilenceMs?: number;
  /** The longest delay before another stream, in milliseconds: 30 s if absent. */
  readonly maxDelayMs?: number;
  /** Called before each delay. */
  readonly onDelay?: (error: unknown, delayMs: number) => void;
}

const firstDelayMs = 1000;

/** Ends of a stream after which another one may continue. A connection that breaks has one of the first four. */
const resumable: ReadonlySet<Code> = new Set([
  Code.Unavailable,
  Code.Canceled,
  Code.Aborted,
  Code.Internal,
  Code.Unknown,
  Code.DeadlineExceeded,
  Code.ResourceExhausted,
]);

/**
 * Yields the responses of a stream of changes, and continues with another stream when one ends: no change is missing, and one may come
 * twice. Throws errors that another stream would meet again, such as PERMISSION_DENIED, and CHANGE_NOT_KEPT after a long break.
 *
 * ```ts
 * const open = (after: string, signal: AbortSignal) => changes.watchChanges({ parent, after }, { signal, timeoutMs: 0 });
 * for await (const { changes, accessChanged } of watchChanges(open)) …
 * ```
 */
export async function* watchChanges(open: OpenWatch, options: WatchOptions = {}): AsyncGenerator<WatchChangesResponse> {
  const { signal, retries = Number.POSITIVE_INFINITY, maxSilenceMs = 45_000, maxDelayMs = 30_000, onDelay } = options;
  let after = options.after ?? "";
  for (let failures = 0; !signal?.aborted; failures++) {
    let failure: unknown;
    try {
      for await (const response of untilSilent(open, after, maxSilenceMs, signal)) {
        failures = 0;
        after = response.resumeAfter;
        yield response;
      }
      failure = new ConnectError("the stream ended", Code.Unavailable);
    } catch (error) {
      failure = error;
    }
    if (signal?.aborted) return;
    if (!resumable.has(ConnectError.from(failure).code) || failures >= retries) throw failure;
    const delayMs = errorDetails(failure).retryAfterMs ?? backOff(failures, maxDelayMs);
    onDelay?.(failure, delayMs);
    await sleep(delayMs, signal);
  }
}

/** Half of it is random: the clients of a server that stops do not all come back at once. */
function backOff(failures: number, maxDelayMs: number): number {
  return Math.min(maxDelayMs, firstDelayMs * 2 ** failures) * (0.5 + Math.random() / 2);
}

/** Yields the responses of one stream, which it ends if nothing comes for too long. */
async function* untilSilent(
  open: OpenWatch,
  after: string,
  maxSilenceMs: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<WatchChangesResponse> {
  const silence = new AbortController();
  const end = () => silence.abort(new ConnectError("the server sends nothing", Code.Unavailable));
  let timer = setTimeout(end, maxSilenceMs);
  try {
    for await (const response of open(after, signal ? AbortSignal.any([signal, silence.signal]) : silence.signal)) {
      clearTimeout(timer);
      yield response;
      timer = setTimeout(end, maxSilenceMs);
    }
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}
