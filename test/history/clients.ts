// Sends calls to the replicas, and notes when each began and ended.
import type { JsonObject } from "@bufbuild/protobuf";
import { Code } from "../../src/aip/errors.ts";
import { type ApiClient, openApiClient } from "../harness/api-clients.ts";
import { failure, type Outcome } from "../harness/outcome.ts";
import { now } from "./history.ts";
import { type Call, nameOfCode } from "./operations.ts";
import type { Replica } from "./replica.ts";

/** The transports that the clients use. */
export const transports = ["rest", "grpc"] as const;
export type HistoryTransport = (typeof transports)[number];

/** How long a client waits for a response, in milliseconds. */
const timeoutMs = 20_000;

/** The call was never sent, because nothing listened. It has no place in the history. */
export class NotSent extends Error {}

/** The route of a call: a replica and a transport. */
export interface Route {
  readonly replica: Replica;
  readonly transport: HistoryTransport;
}

/** The connections of one client of the API. */
export class Client implements Disposable {
  /** How often each code was received. */
  readonly codes = new Map<string, number>();
  readonly #name: string;
  readonly #connections = new Map<string, { readonly generation: number; readonly api: ApiClient }>();

  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Calls a method. A lost connection is UNAVAILABLE, as gRPC has it. `what` describes the call in reports. Rejects with
   * NotSent.
   */
  async call(route: Route, token: string, method: string, request: JsonObject, what: string): Promise<Call> {
    const { replica, transport } = route;
    const calledAt = now();
    const { promise: late, resolve } = Promise.withResolvers<Outcome>();
    const timer = setTimeout(() => resolve(failure(Code.DEADLINE_EXCEEDED, "no response", [])), timeoutMs);
    const outcome = await Promise.race([this.#send(route, token, method, request), late]);
    clearTimeout(timer);
    if (outcome.message.includes("ECONNREFUSED")) throw new NotSent(outcome.message);
    const code = nameOfCode(outcome.code);
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
    const result = outcome.code === Code.OK ? code : `${code} (${outcome.message})`;
    const label = `${this.#name} ${transport} ${replica.name}: ${what}: ${result}`;
    return { label, interval: { calledAt, returnedAt: now() }, outcome };
  }

  [Symbol.dispose](): void {
    for (const { api } of this.#connections.values()) api[Symbol.dispose]();
  }

  async #send(route: Route, token: string, method: string, request: JsonObject): Promise<Outcome> {
    try {
      return await this.#connection(route).call(token, method, request);
    } catch (error) {
      // Of the operating system or of Node's HTTP client: the connection broke, or there is no server.
      if (error instanceof Error && "code" in error) return failure(Code.UNAVAILABLE, error.message, []);
      throw error;
    }
  }

  /** After a restart, gRPC would wait longer and longer before it connects again. */
  #connection({ replica, transport }: Route): ApiClient {
    const key = `${replica.name} ${transport}`;
    const open = this.#connections.get(key);
    if (open?.generation === replica.generation) return open.api;
    open?.api[Symbol.dispose]();
    const api = openApiClient(transport, replica.url);
    this.#connections.set(key, { generation: replica.generation, api });
    return api;
  }
}
