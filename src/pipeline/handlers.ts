import type { DescMessage, DescService, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { MaybePromise } from "../base/maybe-promise.ts";
import type { Call } from "./call.ts";
import type { FieldRules, MessageRules } from "./text-rules.ts";
import type { Validator } from "./validate.ts";

/** One function per unary method of a service. The compiler rejects a missing method, and a response of another type. */
export type Handlers<S extends DescService> = {
  [K in keyof S["method"]]: S["method"][K] extends {
    methodKind: "unary";
    input: infer I extends DescMessage;
    output: infer O extends DescMessage;
  }
    ? (request: MessageShape<I>, call: Call) => MaybePromise<MessageInitShape<O>>
    : never;
};

/** A service with its handlers and the rules of its messages. */
export interface Implementation {
  readonly service: DescService;
  readonly handlers: Readonly<Record<string, (request: never, call: Call) => unknown>>;
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
