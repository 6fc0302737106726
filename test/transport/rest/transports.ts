// A gateway behind a listener of both HTTP versions on 127.0.0.1, and clients that send exactly what they are told.
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request as requestHttp1 } from "node:http";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { createRegistry } from "@bufbuild/protobuf";
import { BadRequestSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import type { Method } from "../../../src/pipeline/method.ts";
import { onExchange } from "../../../src/transport/http/exchange.ts";
import { defaultLimits } from "../../../src/transport/listener/limits.ts";
import { openListener } from "../../../src/transport/listener/listener.ts";
import { newRestTransport, type RestOptions } from "../../../src/transport/rest/rest-transport.ts";

/** A client's request. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers?: readonly string[];
  readonly body?: string | Uint8Array;
  /** Whether the client never says that the body is complete. */
  readonly endless?: boolean;
}

/** The response. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** The HTTP versions. */
export const versions = ["http1", "http2"] as const;
export type Version = (typeof versions)[number];

export interface Transports extends AsyncDisposable {
  /** The errors that the gateway reported. */
  readonly reported: unknown[];
  readonly port: number;
  send(version: Version, sent: Sent): Promise<Answer>;
  /** Sends, and leaves without waiting for the answer. */
  leave(version: Version, sent: Sent, when: Promise<unknown>): Promise<void>;
}

/** Opens the gateway. */
export async function openTransports(
  methods: readonly Method[],
  options: Partial<RestOptions> = {},
): Promise<Transports> {
  const reported: unknown[] = [];
  let requests = 0;
  const gateway = newRestTransport(methods, {
    maxBodyBytes: 4 << 20,
    bodyTimeoutMs: 10_000,
    maxJsonDepth: 100,
    requestTimeoutMs: 10_000,
    streamStallMs: 10_000,
    domain: "rest.test",
    anyTypes: createRegistry(BadRequestSchema),
    requestIdOf: () => `request-${++requests}`,
    report: (error) => reported.push(error),
    ...options,
  });
  const listener = await openListener({
    host: "127.0.0.1",
    port: 0,
    limits: {
      ...defaultLimits,
      maxKeptBodyBytes: options.maxBodyBytes ?? defaultLimits.maxKeptBodyBytes,
      discardStallMs: 200,
    },
    handler: onExchange((exchange) => gateway.handle(exchange)),
  });
  const { port } = listener.address;
  const session = connect(`http://127.0.0.1:${port}`);
  return {
    reported,
    port,
    send: (version, sent) =>
      version === "http1" ? receiveHttp1(startHttp1(port, sent)) : receiveHttp2(startHttp2(session, sent)),
    async leave(version, sent, when) {
      const started = version === "http1" ? startHttp1(port, sent) : startHttp2(session, sent);
      started.on("error", () => {});
      await when;
      started.destroy();
    },
    async [Symbol.asyncDispose]() {
      session.destroy();
      await listener[Symbol.asyncDispose]();
    },
  };
}

function startHttp1(port: number, { method, path, headers = [], body, endless }: Sent): ClientRequest {
  // node's client sends the body of a GET without saying so.
  const framing = endless && !headers.includes("transfer-encoding") ? ["transfer-encoding", "chunked"] : [];
  const length =
    body === undefined || endless || headers.includes("transfer-encoding")
      ? []
      : ["content-length", String(Buffer.byteLength(body))];
  const host = ["host", `127.0.0.1:${port}`];
  const req = requestHttp1({
    host: "127.0.0.1",
    port,
    method,
    path,
    headers: [...host, ...headers, ...framing, ...length],
    agent: false,
  });
  if (body !== undefined) req.write(body);
  if (!endless) req.end();
  return req;
}

async function receiveHttp1(req: ClientRequest): Promise<Answer> {
  const res = await new Promise<IncomingMessage>((resolve, reject) => {
    req.on("response", resolve);
    // After the response, errors while sending the rest of the request do not matter.
    req.on("error", reject);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of res) chunks.push(chunk);
  return { status: res.statusCode ?? 0, headers: res.headers, text: Buffer.concat(chunks).toString() };
}

function startHttp2(
  session: ClientHttp2Session,
  { method, path, headers = [], body, endless }: Sent,
): ClientHttp2Stream {
  const pairs = Object.fromEntries(headers.flatMap((name, i) => (i % 2 === 0 ? [[name, headers[i + 1]]] : [])));
  const stream = session.request(
    { ":method": method, ":path": path, ...pairs },
    { endStream: body === undefined && !endless },
  );
  if (body !== undefined) stream.write(body);
  if (!endless && body !== undefined) stream.end();
  return stream;
}

async function receiveHttp2(stream: ClientHttp2Stream): Promise<Answer> {
  // A server may answer and then refuse the rest of the body, which fails the writing side.
  stream.on("error", () => {});
  const headers = await new Promise<Record<string, unknown>>((resolve, reject) => {
    stream.on("response", resolve);
    stream.on("close", () => reject(new Error("closed without an answer")));
  });
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  if (!stream.closed) await once(stream, "close");
  const { ":status": status, ...rest } = headers;
  return { status: Number(status), headers: rest as Answer["headers"], text: Buffer.concat(chunks).toString() };
}
