// A server that the security tests attack through all of its transports.
import assert from "node:assert/strict";
import type { JsonObject } from "@bufbuild/protobuf";
import { codeName } from "../../src/aip/errors.ts";
import type { Clock } from "../../src/base/clock.ts";
import { type ApiClient, type Outcome, openApiClient, services } from "../harness/api-clients.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../harness/server.ts";

/** A running server with a client at every transport. */
export interface Ground extends AsyncDisposable {
  readonly server: TestServer;
  readonly apiClients: readonly ApiClient[];
  /** Calls `Service/Method` through every transport; all must answer with the same code and message, which is returned. */
  everywhere(token: string | undefined, method: string, request: JsonObject): Promise<Outcome>;
  /** Calls it once, through gRPC. */
  once(token: string | undefined, method: string, request: JsonObject): Promise<Outcome>;
}

/** Starts the server and opens its transports. */
export async function openGround(options: TestServerOptions = {}): Promise<Ground> {
  const server = await startTestServer(options);
  const apiClients = (["grpc", "grpc-web", "connect", "rest"] as const).map((name) => openApiClient(name, server.url));
  const once: Ground["once"] = (token, method, request) => apiClients[0]!.call(token, methodPath(method), request);
  return {
    server,
    apiClients,
    once,
    async everywhere(token, method, request) {
      const outcomes: Outcome[] = [];
      for (const apiClient of apiClients) outcomes.push(await apiClient.call(token, methodPath(method), request));
      const [outcome] = outcomes;
      const seen = outcomes.map(({ code, message }, i) => `${apiClients[i]!.name}: ${codeName(code)} ${message}`);
      const alike = new Set(outcomes.map(({ code, message }) => `${code} ${message}`));
      assert.equal(alike.size, 1, `the transports differ: ${seen.join("; ")}`);
      return outcome!;
    },
    async [Symbol.asyncDispose]() {
      for (const apiClient of apiClients) apiClient[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Returns the gRPC path of `Service/Method`. */
export function methodPath(name: string): string {
  const [service, method] = name.split("/");
  const found = services.find((candidate) => candidate.name === service);
  if (!found) throw new Error(`there is no service ${service}`);
  return `/${found.typeName}/${method}`;
}

/** Returns the name of an outcome's code, for comparisons that read well. */
export function codeOf(outcome: Outcome): string {
  return codeName(outcome.code);
}

/** Returns a reply as an object. */
export function replyOf({ response, message }: Outcome): JsonObject {
  assert.ok(response, message);
  return response as JsonObject;
}

/** A clock that a test turns. */
export interface TurnableClock {
  readonly read: Clock;
  advance(ms: number): void;
}

/** Returns a clock that starts at the present and runs on when told. */
export function turnableClock(): TurnableClock {
  let offset = 0;
  return {
    read: () => Date.now() + offset,
    advance(ms) {
      offset += ms;
    },
  };
}

/** Returns a clock that stands still until it is told, for what is counted by the second. */
export function stoppedClock(): TurnableClock {
  let now = Date.now();
  return {
    read: () => now,
    advance(ms) {
      now += ms;
    },
  };
}
