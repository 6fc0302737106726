import type { DescMessage, DescService, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { MaybePromise } from "../base/maybe-promise.ts";
import type { Call } from "./call.ts";
import type { FieldRules, MessageRules } from "./text-rules.ts";
import type { Validator } from "./validate.ts";

/** The local names of the methods of a service with one response. */
type UnaryName<S extends DescService> = {
  [K in keyof S["method"]]: S["method"][K] extends { methodKind: "unary" } ? K : never;
}[keyof S["method"]];

/** One function per unary method of a service. The compiler rejects a missing method, and a response of another type. */
export type Handlers<S extends DescService> = {
  [K in UnaryName<S>]: S["method"][K] extends {
    methodKind: "unary";
    input: infer I extends DescMessage;
    output: infer O extends DescMessage;
  }
    ? (request: MessageShape<I>, call: Call) => MaybePromise<MessageInitShape<O>>
    : never;
};

/** Steps of the pipeline that the handler of a stream repeats while the stream is open. */
export interface StreamContext {
  /** Sets the access of the caller to that at an access epoch. Throws the end of the stream if its token is no longer valid. */
  renewAccess(epoch: number): MaybePromise<void>;
  /** Runs a part that may take long, such as reading a page of old rows, when no expensive call of the caller runs. */
  runInTurn<T>(body: () => Promise<T>): Promise<T>;
}

/** Responds to a decoded request with a stream of messages. */
export type StreamHandler = (request: never, call: Call, context: StreamContext) => AsyncIterable<unknown>;

/** One function per method of a service whose response is a stream. */
export type StreamHandlers<S extends DescService> = {
  [K in Exclude<keyof S["method"], UnaryName<S>>]: S["method"][K] extends {
    methodKind: "server_streaming";
    input: infer I extends DescMessage;
    output: infer O extends DescMessage;
  }
    ? (request: MessageShape<I>, call: Call, context: StreamContext) => AsyncIterable<MessageInitShape<O>>
    : never;
};

/** A service with its handlers and the rules of its messages. */
export interface Implementation {
  readonly service: DescService;
  readonly handlers: Readonly<Record<string, (request: never, call: Call) => unknown>>;
  /** The handlers of methods whose response is a stream; none if absent. */
  readonly streams?: Readonly<Record<string, StreamHandler>>;
  readonly rules: readonly MessageRules[];
  /** Validators that replace those of the method descriptors, by local name. */
  readonly validators?: Readonly<Record<string, Validator>>;
  /** Maps the field rules, for messages that are validated as another type; unchanged when absent. */
  readonly rulesOf?: (rules: FieldRules) => FieldRules;
}

/** Makes an implementation of a service, with handlers checked against its descriptor. */
export function implement<S extends DescService>(
  service: S,
  handlers: Handlers<S>,
  rules: readonly MessageRules[] = [],
): Implementation {
  return { service, handlers, rules };
}
