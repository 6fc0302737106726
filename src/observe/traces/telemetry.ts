// Records traces with the SDK of OpenTelemetry, and sends them by OTLP over HTTP. Loaded only with OTEL_… in the environment
// (docs/decisions/0085).
import {
  type Context,
  context,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type Span,
  type Attributes as SpanAttributes,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  type BatchSpanProcessorOptions,
  RandomIdGenerator,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";
import { isPromise, type MaybePromise } from "../../base/maybe-promise.ts";
import type { Ended, TracedCall, Tracing } from "../../base/tracing.ts";
import { type Sampler, samplerOf } from "./sampling.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Traces that are being recorded. */
export interface Telemetry extends Tracing {
  /** Sends the remaining spans, for 5 seconds at most. */
  close(): Promise<void>;
}

/** Starts recording. The exporter reads its own variables, such as OTEL_EXPORTER_OTLP_ENDPOINT. Throws SamplerError. */
export function startTelemetry(env: Environment, version: string, log: Logger): Telemetry {
  const sampler = samplerOf(env);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const warn = (message: string) => log.warn({ message }, "telemetry failed");
  diag.setLogger({ error: warn, warn, info() {}, debug() {}, verbose() {} }, { logLevel: DiagLogLevel.WARN });
  const ids = new CallIdGenerator();
  const provider = new TracerProvider({
    resource: resourceOf(version),
    idGenerator: ids,
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter(), ...batchOptionsOf(env) })],
  });
  const tracing = newTracing(provider, sampler, ids, version);
  return { ...tracing, close: () => withinSeconds(5, provider.shutdown()) };
}

/** The SDK does not read these variables itself. A value that is not a positive number has no effect, as the specification demands. */
function batchOptionsOf(env: Environment): Omit<BatchSpanProcessorOptions, "exporter"> {
  const variables = {
    scheduledDelayMillis: env.OTEL_BSP_SCHEDULE_DELAY,
    exportTimeoutMillis: env.OTEL_BSP_EXPORT_TIMEOUT,
    maxQueueSize: env.OTEL_BSP_MAX_QUEUE_SIZE,
    maxExportBatchSize: env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
  };
  const given = Object.entries(variables).map(([name, text]) => [name, Number(text)] as const);
  return Object.fromEntries(given.filter(([, value]) => value > 0));
}

function resourceOf(version: string) {
  const own = resourceFromAttributes({ "service.name": "gatehouse", "service.version": version });
  // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES have the last word.
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
}

/** Gives a trace that begins here the id of its request: log, audit log and events have it too. */
class CallIdGenerator extends RandomIdGenerator {
  next = "";

  override generateTraceId(): string {
    const id = this.next;
    this.next = "";
    return /^(?!0{32})[0-9a-f]{32}$/.test(id) ? id : super.generateTraceId();
  }
}

const propagator = new W3CTraceContextPropagator();
const headers = {
  get: (header: TracedCall["header"], name: string) => header(name),
  keys: () => ["traceparent", "tracestate"],
};

function newTracing(provider: TracerProvider, sampler: Sampler, ids: CallIdGenerator, version: string): Tracing {
  const tracer = provider.getTracer("gatehouse", version);
  let sampledCalls = 0;
  return {
    isRecording: () => sampledCalls > 0,
    isSampled: ({ header, requestId }) => sampler(header("traceparent"), requestId),
    call(call, run) {
      const current = context.active();
      // Version 1 of the API calls methods of version 2.
      const isInner = trace.getSpan(current) !== undefined;
      const parent = isInner ? current : propagator.extract(ROOT_CONTEXT, call.header, headers);
      ids.next = call.requestId;
      const span = tracer.startSpan(
        call.name,
        { kind: isInner || call.isBackground ? SpanKind.INTERNAL : SpanKind.SERVER },
        parent,
      );
      sampledCalls++;
      return spanning(span, parent, run, (error) => {
        sampledCalls--;
        return call.describe(error);
      });
    },
    step(step, run) {
      const current = context.active();
      if (!trace.getSpan(current)) return run();
      const kind = step.isClient ? SpanKind.CLIENT : SpanKind.INTERNAL;
      const span = tracer.startSpan(step.name, { kind, attributes: step.attributes as SpanAttributes }, current);
      return spanning(span, current, run, endOfStep);
    },
    traceparent() {
      const carrier: { traceparent?: string } = {};
      propagator.inject(context.active(), carrier, {
        set: (into, name, value) => void Object.assign(into as object, { [name]: value }),
      });
      return carrier.traceparent;
    },
  };
}

function endOfStep(error?: unknown): Ended {
  return { attributes: {}, isFailure: error !== undefined };
}

/** Runs within a span, and ends it: at once if nothing has to be awaited. */
function spanning<T>(
  span: Span,
  parent: Context,
  run: () => MaybePromise<T>,
  describe: (error?: unknown) => Ended,
): MaybePromise<T> {
  const end = (error?: unknown) => {
    const { attributes, isFailure } = describe(error);
    span.setAttributes(attributes as SpanAttributes);
    if (isFailure) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  };
  const fail = (error: unknown): never => {
    end(error ?? new Error("unknown"));
    throw error;
  };
  let result: MaybePromise<T>;
  try {
    result = context.with(trace.setSpan(parent, span), run);
  } catch (error) {
    return fail(error);
  }
  if (!isPromise(result)) {
    end();
    return result;
  }
  return result.then((value) => {
    end();
    return value;
  }, fail);
}

async function withinSeconds(seconds: number, work: Promise<void>): Promise<void> {
  const limit = Promise.withResolvers<void>();
  const timer = setTimeout(limit.resolve, seconds * 1000);
  await Promise.race([work.catch(() => {}), limit.promise]);
  clearTimeout(timer);
}
