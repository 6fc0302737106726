// Traces: spans of calls and of their steps. They are recorded only with OpenTelemetry in the environment (observe/traces/telemetry.ts);
// without it a step costs one comparison.
import type { MaybePromise } from "./maybe-promise.ts";

/** Facts about a span, by names of the OpenTelemetry semantic conventions. Never a token, a body or a parameter. */
export type Attributes = Readonly<Record<string, string | number>>;

/** The end of a call or a step: its attributes and its error. */
export interface Ended {
  readonly attributes: Attributes;
  /** Whether the server is responsible for the failure; false after a success. */
  readonly isFailure: boolean;
}

/** A call of the API, or work that follows one. */
export interface TracedCall {
  /** The method, `package.Service/Method`, or the work. */
  readonly name: string;
  /** 32 hexadecimal digits. It becomes the trace id if the caller sends no trace. */
  readonly requestId: string;
  /** Whether it is work that follows a call, which nobody waits for. False if absent. */
  readonly isBackground?: boolean;
  /** Returns a header of the request by its lower-case name. */
  readonly header: (name: string) => string | undefined;
  /** Describes the call after it ended; `error` is the thrown value. */
  readonly describe: (error?: unknown) => Ended;
}

/** A step of a call: a query, a request to another server. */
export interface TracedStep {
  readonly name: string;
  /** Whether another process answers. */
  readonly isClient?: boolean;
  readonly attributes?: Attributes;
}

/** Records traces. */
export interface Tracing {
  /** Whether the trace of a call is recorded. Ask before describing the call: most calls are not. */
  isSampled(call: Pick<TracedCall, "header" | "requestId">): boolean;
  /** Whether a sampled call is in progress in this process. Ask before a step: most of the time there is none. */
  isRecording(): boolean;
  /** Runs a sampled call in a span. */
  call<T>(call: TracedCall, run: () => MaybePromise<T>): MaybePromise<T>;
  /** Runs a step in a span below that of the current call, if that one is sampled. */
  step<T>(step: TracedStep, run: () => MaybePromise<T>): MaybePromise<T>;
  /** Returns the `traceparent` header for requests of the current step; undefined outside of a sampled call. */
  traceparent(): string | undefined;
}

let active: Tracing | undefined;

/** Sets the recorder of traces before the server starts. There is one for the process, as in OpenTelemetry. */
export function setTracing(tracing: Tracing | undefined): void {
  active = tracing;
}

/** Returns the recorder of traces; undefined if there is none. */
export function tracing(): Tracing | undefined {
  return active;
}

/** Runs a step of the current call, in a span of its own if the call is sampled. */
export function traced<T>(step: TracedStep, run: () => MaybePromise<T>): MaybePromise<T> {
  return active?.isRecording() ? active.step(step, run) : run();
}

/** Returns the `traceparent` header for requests of the current step; undefined outside of a sampled call. */
export function currentTraceparent(): string | undefined {
  return active?.isRecording() ? active.traceparent() : undefined;
}
