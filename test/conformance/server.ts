// The server under test of connectconformance: Gatehouse's listener, unary and streaming transport and router, with the service that the suite calls.

import { once } from "node:events";
import type { ServerHttp2Stream } from "node:http2";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { limits } from "../../src/server/limits.ts";
import { newRouter } from "../../src/transport/connect/router.ts";
import { type ExchangeHandler, MessageExchange } from "../../src/transport/http/exchange.ts";
import { type HttpRequest, type HttpResponse, isHttp2, requestTarget } from "../../src/transport/http/message.ts";
import { defaultLimits } from "../../src/transport/listener/limits.ts";
import { openListener } from "../../src/transport/listener/listener.ts";
import { newStreamingTransport } from "../../src/transport/streaming/stream-transport.ts";
import { newUnaryTransport } from "../../src/transport/unary/unary-transport.ts";
import { schemaOf, service, types } from "./descriptors.ts";
import { addStreams } from "./streams.ts";
import { addToResponse, addToStream } from "./trailers.ts";
import { type Exchange, exchanges, streamMethod, unaryMethods } from "./unary.ts";

interface Asked {
  readonly useTls: boolean;
  readonly messageReceiveLimit: number;
  readonly serverCreds?: { readonly cert: Uint8Array; readonly key: Uint8Array };
}

const asked = fromBinary(schemaOf("ServerCompatRequest"), await readMessage()) as unknown as Asked;
const options = {
  maxBodyBytes: asked.messageReceiveLimit || limits.bodyBytes,
  maxOperationBytes: asked.messageReceiveLimit || limits.bodyBytes,
  bodyTimeoutMs: limits.bodyTimeoutMs,
  requestTimeoutMs: limits.requestTimeoutMs,
  maxTimeoutMs: limits.deadlineMs,
  maxJsonDepth: limits.jsonDepth,
  detailTypes: types,
  errorDomain: "conformance.test",
  draining: new AbortController().signal,
};
const ofStream = new WeakMap<ServerHttp2Stream, Exchange>();
const unary = newUnaryTransport({ ...options, ...defaultLimits, methods: unaryMethods() });
const fallback: ExchangeHandler = ({ response }) =>
  void (response as { writeHead(status: number): HttpResponse }).writeHead(404).end();
const streaming = newStreamingTransport({
  ...options,
  ...defaultLimits,
  methods: [streamMethod()],
  streamStallMs: limits.streamStallMs,
});
const streams = newRouter({
  ...options,
  operations: { [service.typeName]: async () => addStreams },
  fallback,
});

const tls = asked.serverCreds && {
  cert: Buffer.from(asked.serverCreds.cert),
  key: Buffer.from(asked.serverCreds.key),
};
const listener = await openListener({
  host: "127.0.0.1",
  port: 0,
  ...(asked.useTls && tls ? { tls } : {}),
  limits: defaultLimits,
  handler: serve,
  fast(stream, headers, rawHeaders) {
    const exchange: Exchange = { headers: rawHeaders, query: "", trailers: [] };
    ofStream.set(stream, exchange);
    addToStream(stream, exchange);
    return exchanges.run(exchange, () => unary.stream(stream, headers, rawHeaders));
  },
});
const { host, port } = listener.address;
const response = create(schemaOf("ServerCompatResponse"), { host, port, pemCert: tls?.cert ?? new Uint8Array() });
const bytes = toBinary(schemaOf("ServerCompatResponse"), response);
const prefix = Buffer.alloc(4);
prefix.writeUInt32BE(bytes.length);
process.stdout.write(Buffer.concat([prefix, bytes]));

function serve(request: HttpRequest, response: HttpResponse): void | Promise<void> {
  const exchange = exchangeOf(request, response);
  return exchanges.run(exchange, () => {
    const served = new MessageExchange(request, response);
    if (!unary.request(served) && !streaming(served)) return streams(served);
  });
}

function exchangeOf(request: HttpRequest, response: HttpResponse): Exchange {
  const { query } = requestTarget(request);
  if (isHttp2(response)) return { ...ofStream.get(response.stream)!, query };
  const exchange: Exchange = { headers: request.rawHeaders, query, trailers: [] };
  addToResponse(response, exchange);
  return exchange;
}

/** Returns the one message on standard input, behind its length. */
async function readMessage(): Promise<Buffer> {
  let held: Buffer = Buffer.alloc(0);
  while (held.length < 4 || held.length < 4 + held.readUInt32BE(0)) {
    const [chunk] = (await once(process.stdin, "data")) as [Buffer];
    held = Buffer.concat([held, chunk]);
  }
  process.stdin.pause();
  return held.subarray(4, 4 + held.readUInt32BE(0));
}
