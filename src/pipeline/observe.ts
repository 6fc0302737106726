// One log line and one histogram entry per call, under the code that the caller sees.
import type { Logger } from "pino";
import { show, visible } from "../aip/clip.ts";
import { type ApiError, Code, codeName } from "../aip/errors.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { Call } from "./call.ts";
import { traceIdOf } from "./trace.ts";

/** Told of every finished call. */
export type Observer = (call: Call, path: string, durationMs: number, failure: ApiError | undefined) => void;

/** Failures that are ours, not the caller's. */
const ownFailures: ReadonlySet<Code> = new Set([Code.INTERNAL, Code.UNKNOWN, Code.DATA_LOSS, Code.UNAVAILABLE]);

/** Logs and counts. Neither a token nor a body ever gets here. */
export function newObserver(log: Logger, metrics: Metrics): Observer {
  return (call, path, durationMs, failure) => {
    const code = failure ? codeName(failure.code) : "OK";
    metrics.observeCall(path, call.transport, code, durationMs / 1000);
    const isOurs = failure !== undefined && ownFailures.has(failure.code);
    if (!isOurs && !log.isLevelEnabled("info")) return;
    const line = {
      requestId: call.requestId,
      method: path,
      transport: call.transport,
      code,
      durationMs: Math.round(durationMs * 1000) / 1000,
      caller: call.caller?.uid,
      ...originOf(call),
    };
    if (isOurs) log.error({ ...line, err: failure.cause }, "call failed");
    else log.info(failure ? { ...line, error: visible(failure.message) } : line, "call");
  };
}

/** Where a call came from, for the log: its client, the program, and the trace that it belongs to. */
export function originOf({
  clientAddress,
  header,
}: Pick<Call, "clientAddress" | "header">): Record<string, string | undefined> {
  const userAgent = header("user-agent");
  return {
    client: clientAddress,
    userAgent: userAgent === undefined ? undefined : show(userAgent),
    traceId: traceIdOf(header("traceparent")),
  };
}
