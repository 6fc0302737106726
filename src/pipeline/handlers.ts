import type { DescMessage, DescService, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { MaybePromise } from "../base/maybe-promise.ts";
import type { Call } from "./call.ts";
import type { FieldRules, MessageRules } from "./text-rules.ts";
import type { Validator } from "./validate.ts";

/** One function per unary method of a service. A missing method or a reply of another type does not compile. */
export type Handlers<S extends DescService> = {
  [K in keyof S["method"]]: S["method"][K] extends {
    methodKind: "unary";
    input: infer I extends DescMessage;
    output: infer O extends DescMessage;
  }
    ? (request: MessageShape<I>, call: Call) => MaybePromise<MessageInitShape<O>>
    : never;
};

/** A service, its handlers, and the rules of the messages that it brings along. */
export interface Implementation {
  readonly service: DescService;
  readonly handlers: Readonly<Record<string, (request: never, call: Call) => unknown>>;
  readonly rules: readonly MessageRules[];
  /** Validators of methods that are not checked by what their own descriptor says, by local name. */
  readonly validators?: Readonly<Record<string, Validator>>;
  /** What is asked of fields whose messages are checked in the form of others; as the rules say when absent. */
  readonly rulesOf?: (rules: FieldRules) => FieldRules;
}

/** Ties handlers to their service. */
export function implement<S extends DescService>(
  service: S,
  handlers: Handlers<S>,
  rules: readonly MessageRules[] = [],
): Implementation {
  return { service, handlers, rules };
}
