// Writes one log line and one histogram value per call, with the code that the caller gets.
import type { Logger } from "pino";
import { type ApiError, Code, codeName } from "../aip/errors.ts";
import { show, visible } from "../base/clip.ts";
import { readTraceParent } from "../base/traceparent.ts";
import { currentTraceparent } from "../base/tracing.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { Call } from "./call.ts";

/** Called after every call. */
export type Observer = (call: Call, path: string, durationMs: number, failure: ApiError | undefined) => void;

/** Codes of failures that the server, not the caller, is responsible for. */
const ownFailures: ReadonlySet<Code> = new Set([Code.INTERNAL, Code.UNKNOWN, Code.DATA_LOSS, Code.UNAVAILABLE]);

/** Whether the server, not the caller, is responsible for a failure. */
export function isOwnFailure({ code }: ApiError): boolean {
  return ownFailures.has(code);
}

/** Makes the observer that logs and counts calls. It never gets a token or a body. */
export function newObserver(log: Logger, metrics: Metrics): Observer {
  return (call, path, durationMs, failure) => {
    const code = failure ? codeName(failure.code) : "OK";
    metrics.observeCall({
      path,
      transport: call.transport,
      code,
      seconds: durationMs / 1000,
      traceId: recordedTraceId(),
    });
    const isOurs = failure !== undefined && isOwnFailure(failure);
    const level = failure?.isExpected ? "debug" : "info";
    if (!isOurs && !log.isLevelEnabled(level)) return;
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
    else log[level](failure ? { ...line, error: visible(failure.message) } : line, "call");
  };
}

/** Returns the id of the current trace if it is recorded. Only then it leads to something. */
function recordedTraceId(): string | undefined {
  return readTraceParent(currentTraceparent())?.traceId;
}

/** Returns the origin of a call for the log: client address, user agent and trace. */
export function originOf({
  clientAddress,
  header,
}: Pick<Call, "clientAddress" | "header">): Record<string, string | undefined> {
  const userAgent = header("user-agent");
  return {
    client: clientAddress,
    userAgent: userAgent === undefined ? undefined : show(userAgent),
    traceId: readTraceParent(header("traceparent"))?.traceId,
  };
}

/** Returns the client of a call for the audit log: its address and `User-Agent`, as in the server log. */
export function clientOf(call: Pick<Call, "clientAddress" | "header">): {
  client: string | undefined;
  userAgent: string | undefined;
} {
  const { client, userAgent } = originOf(call);
  return { client: client || undefined, userAgent };
}
