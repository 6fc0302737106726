// The messages of the suite, by their descriptors: there is no generated code for them here.
import { readFileSync } from "node:fs";
import {
  createFileRegistry,
  createRegistry,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type Message,
} from "@bufbuild/protobuf";
import { type Any, anyPack, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { detailTypes } from "../../src/transport/error-detail-types.ts";
import { suite } from "./suite.ts";

const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(suite.descriptors)));

/** All types that an Any of the suite, or the details of one of our errors, may hold. */
export const types = createRegistry(registry, detailTypes);

/** The service that the suite calls. */
export const service = registry.getService("connectrpc.conformance.v1.ConformanceService")!;

/** Returns a message of the suite by its short name. */
export function schemaOf(name: string): DescMessage {
  return registry.getMessage(`connectrpc.conformance.v1.${name}`)!;
}

export interface NamedValues {
  readonly name: string;
  readonly value: readonly string[];
}

export interface WantedError {
  readonly code: number;
  readonly message?: string;
  readonly details: readonly Any[];
}

/** The response to send: `response` for methods with one message, `responseData` for streams. */
export interface Definition {
  readonly responseHeaders: readonly NamedValues[];
  readonly responseTrailers: readonly NamedValues[];
  readonly responseDelayMs: number;
  readonly response:
    | { readonly case?: "responseData"; readonly value?: Uint8Array }
    | { readonly case: "error"; readonly value: WantedError };
  readonly responseData: readonly Uint8Array[];
  readonly error?: WantedError;
}

export type SuiteRequest = Message & { readonly responseDefinition?: Definition; readonly fullDuplex?: boolean };

/** The head of a request, which a conformance server reports besides messages. */
export interface Head {
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly query: string;
}

/** Returns the report of a server about the requests of a call. */
export function requestInfo({ headers, query }: Head, requests: readonly SuiteRequest[], method: DescMethod) {
  return {
    requestHeaders: byName(headers),
    ...timeout(headers),
    requests: requests.map((request) => anyPack(method.input, request)),
    ...(query !== "" && { connectGetInfo: { queryParams: byName([...new URLSearchParams(query)].flat()) } }),
  };
}

function byName(pairs: readonly string[]): NamedValues[] {
  const found = new Map<string, string[]>();
  for (let i = 0; i < pairs.length; i += 2) {
    if (pairs[i]!.startsWith(":")) continue;
    found.set(pairs[i]!, [...(found.get(pairs[i]!) ?? []), pairs[i + 1]!]);
  }
  return [...found].map(([name, value]) => ({ name, value }));
}

const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 0.001, n: 0.000_001 };

function timeout(headers: readonly string[]): { timeoutMs?: bigint } {
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [headers[i]!.toLowerCase(), headers[i + 1]!];
    if (name === "connect-timeout-ms") return { timeoutMs: BigInt(value) };
    const match = name === "grpc-timeout" ? /^(\d+)([HMSmun])$/.exec(value) : null;
    if (match) return { timeoutMs: BigInt(Math.round(Number(match[1]) * unitMs[match[2]!]!)) };
  }
  return {};
}
