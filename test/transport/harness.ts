import { request as http1Request, type IncomingMessage, type RequestOptions, type ServerResponse } from "node:http";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import type { HttpHandler } from "../../src/transport/http/handlers.ts";
import type { HttpResponse } from "../../src/transport/http/message.ts";
import { defaultLimits, type ListenerLimits } from "../../src/transport/listener/limits.ts";
import { type Listener, type ListenerOptions, openListener } from "../../src/transport/listener/listener.ts";

/** Answers every request with what it saw, once the body is there. */
export const echo: HttpHandler = async (request, response) => {
  const body = await text(request);
  const { method, url, httpVersion } = request;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ method, url, httpVersion, body, authorization: request.headers.authorization }));
};

/** Options of a test's listener: the limits are changes to the default. */
export type TestOptions = Partial<Omit<ListenerOptions, "limits">> & { readonly limits?: Partial<ListenerLimits> };

/** Opens a listener on a free port; it is closed after the test. */
export async function listen(t: TestContext, { limits, ...options }: TestOptions = {}): Promise<Listener> {
  const listener = await openListener({
    host: "127.0.0.1",
    port: 0,
    handler: echo,
    ...options,
    limits: { ...defaultLimits, ...limits },
  });
  t.after(() => listener[Symbol.asyncDispose]());
  return listener;
}

/** A TCP connection, and what came in on it. */
export interface RawClient {
  readonly socket: Socket;
  /** Everything until the server closes the connection; an error of the connection counts as its end. */
  readonly ended: Promise<string>;
  /** Resolves when the text so far satisfies the pattern; rejects when the connection ends before. */
  until(pattern: RegExp): Promise<string>;
}

/** Connects without TLS; destroyed after the test. */
export function rawClient(t: TestContext, listener: Listener): RawClient {
  const socket = connect(listener.address.port, "127.0.0.1");
  t.after(() => socket.destroy());
  return collect(socket);
}

/** Collects what comes in on a socket, a TLS one included. */
export function collect(socket: Socket): RawClient {
  let received = "";
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    received += chunk;
  });
  socket.on("error", () => {});
  const ended = new Promise<string>((resolve) => socket.on("close", () => resolve(received)));
  const until = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        if (pattern.test(received)) resolve(received);
        else if (socket.closed) reject(new Error(`closed after ${JSON.stringify(received)}`));
      };
      socket.on("data", check);
      socket.on("close", check);
      check();
    });
  return { socket, ended, until };
}

/** Sends the text on a connection of its own and answers all that came until the server closed it. */
export function exchange(t: TestContext, listener: Listener, message: string): Promise<string> {
  const client = rawClient(t, listener);
  client.socket.write(message, "latin1");
  return client.ended;
}

/** A reply over HTTP/1. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** One HTTP/1 request on a connection of its own, unless an agent is given. */
export function get(listener: Listener, path: string, options: RequestOptions = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const { host, port } = listener.address;
    const request = http1Request({ host, port, path, agent: false, ...options }, (response) => {
      text(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        reject,
      );
    });
    request.on("error", reject);
    request.end();
  });
}

/** An HTTP/2 session; destroyed after the test. */
export function session(t: TestContext, listener: Listener, options: { ca?: string } = {}): ClientHttp2Session {
  const client = connectHttp2(listener.address.url, options);
  client.on("error", () => {});
  t.after(() => client.destroy());
  return client;
}

/** One HTTP/2 request; rejects when the stream is reset. */
export async function get2(client: ClientHttp2Session, path: string, headers = {}): Promise<Reply> {
  const stream = client.request({ ":path": path, ...headers });
  const head = new Promise<Record<string, unknown>>((resolve, reject) => {
    stream.on("response", resolve);
    stream.on("error", reject);
    stream.on("close", () => reject(new Error(`stream closed with code ${stream.rstCode}`)));
  });
  stream.end();
  const [received, body] = await Promise.all([head, text(stream)]);
  return { status: Number(received[":status"]), headers: received as Reply["headers"], body };
}

/** Returns a promise and what settles it, for a handler that waits until the test says so. */
export function gate(): PromiseWithResolvers<void> {
  return Promise.withResolvers<void>();
}

/** Writes a part of a reply; the types of the two versions of HTTP agree in what is used here only. */
export function write(response: HttpResponse, chunk: string): void {
  (response as ServerResponse).write(chunk);
}
