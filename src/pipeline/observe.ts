// One log line and one histogram entry per call, under the code that the caller sees.
import type { Logger } from "pino";
import { type ApiError, Code, codeName } from "../aip/errors.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { Call } from "./call.ts";

/** Told of every finished call. */
export type Observer = (call: Call, path: string, durationMs: number, failure: ApiError | undefined) => void;

/** Failures that are ours, not the caller's. */
const ownFailures: ReadonlySet<Code> = new Set([Code.INTERNAL, Code.UNKNOWN, Code.DATA_LOSS, Code.UNAVAILABLE]);

/** Logs and counts. Neither a token nor a body ever gets here. */
export function newObserver(log: Logger, metrics: Metrics): Observer {
  return (call, path, durationMs, failure) => {
    const code = failure ? codeName(failure.code) : "OK";
    metrics.observeCall(path, call.door, code, durationMs / 1000);
    const isOurs = failure !== undefined && ownFailures.has(failure.code);
    if (!isOurs && !log.isLevelEnabled("info")) return;
    const line = {
      requestId: call.requestId,
      method: path,
      door: call.door,
      code,
      durationMs: Math.round(durationMs * 1000) / 1000,
      caller: call.caller?.uid,
    };
    if (isOurs) log.error({ ...line, err: failure.cause }, "call failed");
    else log.info(failure ? { ...line, error: failure.message } : line, "call");
  };
}
