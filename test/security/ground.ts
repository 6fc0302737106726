// A server that the security tests attack through all of its doors.
import assert from "node:assert/strict";
import type { JsonObject } from "@bufbuild/protobuf";
import { codeName } from "../../src/aip/errors.ts";
import type { Clock } from "../../src/base/clock.ts";
import { type Door, type Outcome, openDoor, services } from "../harness/doors.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../harness/server.ts";

/** A running server with a client at every door. */
export interface Ground extends AsyncDisposable {
  readonly server: TestServer;
  readonly doors: readonly Door[];
  /** Calls `Service/Method` through every door; all must answer with the same code and message, which is returned. */
  everywhere(token: string | undefined, method: string, request: JsonObject): Promise<Outcome>;
  /** Calls it once, through gRPC. */
  once(token: string | undefined, method: string, request: JsonObject): Promise<Outcome>;
}

/** Starts the server and opens its doors. */
export async function openGround(options: TestServerOptions = {}): Promise<Ground> {
  const server = await startTestServer(options);
  const doors = (["grpc", "grpc-web", "connect", "rest"] as const).map((name) => openDoor(name, server.url));
  const once: Ground["once"] = (token, method, request) => doors[0]!.call(token, methodPath(method), request);
  return {
    server,
    doors,
    once,
    async everywhere(token, method, request) {
      const outcomes: Outcome[] = [];
      for (const door of doors) outcomes.push(await door.call(token, methodPath(method), request));
      const [outcome] = outcomes;
      const seen = outcomes.map(({ code, message }, i) => `${doors[i]!.name}: ${codeName(code)} ${message}`);
      const alike = new Set(outcomes.map(({ code, message }) => `${code} ${message}`));
      assert.equal(alike.size, 1, `the doors differ: ${seen.join("; ")}`);
      return outcome!;
    },
    async [Symbol.asyncDispose]() {
      for (const door of doors) door[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** The gRPC path of `Service/Method`. */
export function methodPath(name: string): string {
  const [service, method] = name.split("/");
  const found = services.find((candidate) => candidate.name === service);
  if (!found) throw new Error(`there is no service ${service}`);
  return `/${found.typeName}/${method}`;
}

/** The name of an outcome's code, for comparisons that read well. */
export function codeOf(outcome: Outcome): string {
  return codeName(outcome.code);
}

/** A reply as an object. */
export function replyOf({ response, message }: Outcome): JsonObject {
  assert.ok(response, message);
  return response as JsonObject;
}

/** A clock that a test turns. */
export interface TurnableClock {
  readonly read: Clock;
  advance(ms: number): void;
}

/** A clock that starts at the present and runs on when told. */
export function turnableClock(): TurnableClock {
  let offset = 0;
  return {
    read: () => Date.now() + offset,
    advance(ms) {
      offset += ms;
    },
  };
}

/** A clock that stands still until it is told, for what is counted by the second. */
export function stoppedClock(): TurnableClock {
  let now = Date.now();
  return {
    read: () => now,
    advance(ms) {
      now += ms;
    },
  };
}
