// The receiver of events: over TLS on the loopback interface, with a server that may send to it.

import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { createServer, type Server as HttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { startTestServer, type TestServerOptions } from "../harness/server.ts";
import { certificate, certificateKey } from "../transport/certificate.ts";

setDefaultCACertificates([...getCACertificates("default"), certificate]);

/** An attempt to deliver an event, as it came. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers an attempt; 200 by default. */
export type Answer = (received: Received, response: ServerResponse) => void;

/** A running receiver. */
export interface Sink extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
  /** How many connections there were. */
  readonly connections: number;
  answer: Answer;
  /** Returns the attempts that fit, once there are so many; rejects when they do not come. */
  wait(count: number, fits?: (received: Received) => boolean): Promise<Received[]>;
}

export const accept: Answer = (_received, response) => void response.end();

/** Returns an answer that is no more than a status. */
export function status(code: number): Answer {
  return (_received, response) => void response.writeHead(code).end();
}

/** Starts a receiver. */
export async function openSink(): Promise<Sink> {
  const received: Received[] = [];
  let connections = 0;
  const sink = { answer: accept };
  const server = createServer({ cert: certificate, key: certificateKey }, async (request, response) => {
    const one: Received = { path: request.url!, headers: request.headers, body: await text(request) };
    received.push(one);
    sink.answer(one, response);
  });
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(sink, {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    received,
    get connections() {
      return connections;
    },
    async wait(count: number, fits: (one: Received) => boolean = () => true) {
      for (let i = 0; i < 400; i++) {
        const fitting = received.filter(fits);
        if (fitting.length >= count) return fitting;
        await pause(25);
      }
      const types = received.map(({ headers }) => headers["ce-type"]).join(", ");
      throw new Error(`timed out waiting for ${count} deliveries; there were: ${types}`);
    },
    [Symbol.asyncDispose]: () => close(server),
  });
}

async function close(server: HttpsServer): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/** The settings with which a server delivers events to this machine. */
export const sending = { eventDelivery: "on", privateSinkNetworks: "127.0.0.0/8,::1/128" };

/** Returns a server that may send events to this machine. */
export function startSendingServer({ settings, ...options }: TestServerOptions = {}) {
  return startTestServer({ ...options, settings: { ...sending, ...settings } });
}

/** Returns the end of the type of a delivery: `iam.group.created.v1`. */
export function typeOf({ headers }: Received): string {
  return String(headers["ce-type"]).replace("dev.chainguard.api.", "");
}

/** Returns a clock that stands, but where a test moves it. */
export function standingClock() {
  let now = Date.now();
  return Object.assign(() => now, {
    advance(milliseconds: number) {
      now += milliseconds;
    },
  });
}
