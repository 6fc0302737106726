// Another server that answers the question, over REST and gRPC.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { frame, grpcHeaders } from "../grpc-frame.ts";
import { type Headers, loadHttp1, loadHttp2 } from "../load.ts";
import type { LoadResult } from "../load-output.ts";
import { http1Connections } from "../scenarios/raw.ts";
import type { Cores, ServerProcess } from "../server-process.ts";

/** A unary request over gRPC. */
export interface GrpcRequest {
  readonly port: number;
  readonly headers: Headers;
  readonly path: string;
  readonly message: Buffer;
}

/** Requests with JSON, sent in turn. */
export interface JsonRequests {
  readonly port: number;
  readonly headers: Headers;
  readonly path: string;
  readonly bodies: readonly string[];
}

/** A server that runs and is filled. */
export interface Peer {
  readonly server: ServerProcess;
  /** The prefix in the names of loads, such as `OpenFGA Check`. */
  readonly name: string;
  /** The label of the JSON interface: REST, or JSON for a gateway without resources. */
  readonly jsonName: "REST" | "JSON";
  readonly json: JsonRequests;
  readonly grpc: GrpcRequest;
}

const startTimeoutMs = 20_000;

/** Returns the environment of a program in Go, which uses as many cores as it may. */
export function goEnvironment(cores: Cores): NodeJS.ProcessEnv {
  return cores === "one" ? { ...process.env, GOMAXPROCS: "1" } : process.env;
}

/** Loads a server with JSON. */
export function loadJson({ port, headers, path, bodies }: JsonRequests, cores: Cores) {
  const requests = bodies.map((body) => ({ method: "POST", path, body }));
  const all = { ...headers, "content-type": "application/json" };
  const load = { port, connections: http1Connections, headers: all, requests, cores };
  return (seconds: number): Promise<LoadResult> => loadHttp1(load, seconds);
}

/** Loads a server with one message over gRPC. */
export function loadGrpc({ port, headers, path, message }: GrpcRequest, cores: Cores) {
  const load = { port, headers: { ...grpcHeaders, ...headers }, path, body: frame(message), cores };
  return (seconds: number): Promise<LoadResult> => loadHttp2(load, seconds);
}

/** Sends JSON and returns the JSON of the response. Throws unless it succeeds. */
export async function postJson(
  { port, headers, path }: Omit<JsonRequests, "bodies">,
  body: object | string,
): Promise<Record<string, unknown>> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  assert.ok(response.ok, `POST ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

/** Tries again until a server that has just started responds. */
export async function untilReady<T>(attempt: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + startTimeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await pause(100);
    }
  }
}

/** Sends a message over gRPC by a real client, and returns the message of the response. */
export async function callGrpc({ port, headers, path, message }: GrpcRequest): Promise<Buffer> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  try {
    return await new Promise((resolve, reject) => {
      const bytes = (value: Buffer) => value;
      client.makeUnaryRequest(path, bytes, bytes, message, metadata, (error, value) => {
        if (error) reject(error);
        else resolve(value ?? Buffer.alloc(0));
      });
    });
  } finally {
    client.close();
  }
}
