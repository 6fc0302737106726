// A collector for tests: takes OTLP over HTTP, and finds spans.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";

/** A span as OTLP's JSON has it, with its attributes as an object. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Of the resource: the service. */
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A collector that has an address. */
export interface Collector extends AsyncDisposable {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** Resolves with the spans of a trace once there is one with this name. */
  trace(traceId: string, name: string): Promise<readonly ReceivedSpan[]>;
}

type OtlpAttributes = readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];

const objectOf = (attributes: OtlpAttributes) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/** Starts a collector on a free port. */
export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const listeners = new Set<() => void>();
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const json = request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
    for (const { resource, scopeSpans } of JSON.parse(json.toString()).resourceSpans)
      for (const { spans: received } of scopeSpans)
        for (const span of received)
          spans.push({ ...span, attributes: objectOf(span.attributes), resource: objectOf(resource.attributes) });
    response.end("{}");
    for (const listener of listeners) listener();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    trace: (traceId, name) =>
      new Promise((resolve) => {
        const look = () => {
          const found = spans.filter((span) => span.traceId === traceId);
          if (!found.some((span) => span.name === name)) return;
          listeners.delete(look);
          resolve(found);
        };
        listeners.add(look);
        look();
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
