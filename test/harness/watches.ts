// Streams of changes over every transport.
import { create, fromJson, type JsonValue, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  type Http2SessionManager,
} from "@connectrpc/connect-node";
import {
  ChangesService,
  WatchChangesRequestSchema,
  type WatchChangesResponse,
  WatchChangesResponseSchema,
} from "../../gen/gatehouse/changes/v1/changes_pb.ts";
import { type Code, codeName } from "../../src/aip/errors.ts";

/** The transports that have streams. */
export const watchTransports = ["grpc", "grpc-web", "connect", "connect with JSON", "rest"] as const;
export type WatchTransport = (typeof watchTransports)[number];

/** The end of a stream: the name of a code, and its message. */
export interface WatchEnd {
  readonly code: string;
  readonly message: string;
}

/** An open stream. */
export interface Watch extends AsyncDisposable {
  /** Returns the next response. Rejects with the end of the stream. */
  next(): Promise<WatchChangesResponse>;
  /** Reads responses until one has a change, and returns it. */
  nextChanges(): Promise<WatchChangesResponse>;
  /** Reads to the end, and returns it. */
  end(onResponse?: (response: WatchChangesResponse) => void): Promise<WatchEnd>;
}

interface WatchTarget {
  readonly url: string;
  readonly token: string;
  /** The connection of streams over HTTP/2; one of its own if absent. */
  readonly session?: Http2SessionManager;
  readonly headers?: Readonly<Record<string, string>>;
}

type WatchRequest = MessageInitShape<typeof WatchChangesRequestSchema>;

/** Opens a stream. */
export function watch(transport: WatchTransport, target: WatchTarget, request: WatchRequest): Watch {
  const stop = new AbortController();
  const responses =
    transport === "rest" ? overRest(target, request, stop.signal) : overRpc(transport, target, request, stop.signal);
  const iterator = responses[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await iterator.next();
    if (done) throw Object.assign(new Error("the stream ended without an error"), { code: "OK" });
    return value as WatchChangesResponse;
  };
  return {
    next,
    async nextChanges() {
      for (;;) {
        const response = await next();
        if (response.changes.length > 0) return response;
      }
    },
    async end(onResponse = () => {}) {
      for (;;)
        try {
          onResponse(await next());
        } catch (error) {
          return endOf(error);
        }
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await iterator.return?.(undefined).catch(() => {});
    },
  };
}

/** Returns the end of a stream that `next` rejected with. */
export function endOf(error: unknown): WatchEnd {
  if (error instanceof ConnectError) return { code: codeName(error.code as number as Code), message: error.rawMessage };
  const { code, message } = error as WatchEnd;
  return { code, message };
}

function overRpc(
  transport: Exclude<WatchTransport, "rest">,
  { url, token, session, headers = {} }: WatchTarget,
  request: WatchRequest,
  signal: AbortSignal,
): AsyncIterable<WatchChangesResponse> {
  const withHeaders: Interceptor = (next) => (call) => {
    call.header.set("authorization", `Bearer ${token}`);
    for (const [name, value] of Object.entries(headers)) call.header.set(name, value);
    return next(call);
  };
  const options = { baseUrl: url, interceptors: [withHeaders] };
  const overHttp1 = { ...options, httpVersion: "1.1" as const };
  const made = {
    grpc: () => createGrpcTransport({ ...options, ...(session && { sessionManager: session }) }),
    "grpc-web": () => createGrpcWebTransport(overHttp1),
    connect: () => createConnectTransport({ ...options, httpVersion: "2" }),
    "connect with JSON": () => createConnectTransport({ ...overHttp1, useBinaryFormat: false }),
  }[transport]();
  return createClient(ChangesService, made).watchChanges(request, { signal });
}

/** Reads server-sent events as a browser does by fetch. */
async function* overRest(
  { url, token, headers }: WatchTarget,
  request: WatchRequest,
  signal: AbortSignal,
): AsyncGenerator<WatchChangesResponse> {
  const json = toJson(WatchChangesRequestSchema, create(WatchChangesRequestSchema, request)) as Record<string, string>;
  const address = `${url}/gatehouse/changes/v1/changes:watch?${new URLSearchParams(json)}`;
  const response = await fetch(address, { headers: { authorization: `Bearer ${token}`, ...headers }, signal });
  if (response.status !== 200) throw failureOf(await response.text());
  if (response.headers.get("content-type") !== "text/event-stream") throw new Error("the response has no events");
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body!) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const event = new Map(text.slice(0, end).split("\n").map(toField));
      text = text.slice(end + 2);
      if (event.get("event") === "error") throw failureOf(event.get("data")!);
      const message = fromJson(WatchChangesResponseSchema, JSON.parse(event.get("data")!) as JsonValue);
      if (event.get("id") !== message.resumeAfter) throw new Error("the id of an event is its position");
      yield message;
    }
  }
}

function toField(line: string): [string, string] {
  const colon = line.indexOf(": ");
  return [line.slice(0, colon), line.slice(colon + 2)];
}

function failureOf(body: string): Error {
  const { code, message } = JSON.parse(body) as { readonly code: Code; readonly message: string };
  return Object.assign(new Error(message), { code: codeName(code) });
}
