// The method table: every unary method with the pipeline around its handler, composed once at start; and the streams.
import type { DescMethod, DescMethodServerStreaming, DescMethodUnary } from "@bufbuild/protobuf";
import { type AccessRule, accessRuleOf } from "../authz/rules.ts";
import { once } from "../base/lazy.ts";
import { ComposedMethod, type Handler, type PipelineOptions } from "./composed-method.ts";
import { ComposedStream } from "./composed-stream.ts";
import { isWrite } from "./forwarding.ts";
import type { Implementation } from "./handlers.ts";
import { IdempotencyKeyUse, keyUseOf } from "./idempotency-key.ts";
import type { Method, StreamMethod } from "./method.ts";
import { fieldRules, type RuleBook, ruleBook } from "./text-rules.ts";
import { compileValidator, type Validator } from "./validate.ts";

/** The options of all methods, and the paths of methods that need no access rule. */
export interface ComposeOptions extends PipelineOptions {
  /** Paths of the methods that check credentials of another kind themselves. Any other method needs an access rule. */
  readonly exempt: ReadonlySet<string>;
}

/**
 * Composes the unary methods of some services. Throws if one has no access rule or no handler.
 *
 * The rules of messages are those of `implementations` and of `others`, whose methods are composed elsewhere.
 */
export function composeMethods(
  implementations: readonly Implementation[],
  options: ComposeOptions,
  others: readonly Implementation[] = [],
): ReadonlyMap<string, Method> {
  const book = ruleBook([...others, ...implementations]);
  const commonRules = fieldRules(book);
  const table = new Map<string, Method>();
  for (const { service, handlers, validators = {}, rulesOf } of implementations) {
    const rules = rulesOf ? rulesOf(commonRules) : commonRules;
    for (const descriptor of service.methods) {
      if (isServerStream(descriptor)) continue;
      if (!isUnary(descriptor)) throw new Error(`${descriptor.toString()}: clients may send one message only`);
      const path = methodPath(descriptor);
      const handler = handlers[descriptor.localName] as Handler | undefined;
      if (!handler) throw new Error(`${path} has no handler`);
      const validator = validators[descriptor.localName] ?? lazyValidator(descriptor, book);
      const rule = ruleOf(path, descriptor, options.exempt);
      const writes = isWrite(descriptor, rule);
      const keyUse = writes ? keyUseOf(descriptor) : IdempotencyKeyUse.IGNORED;
      table.set(
        path,
        new ComposedMethod({ path, descriptor, rule, isWrite: writes, keyUse, handler, validator, rules }, options),
      );
    }
  }
  return table;
}

/** Composes the methods of some services whose response is a stream. Throws if one has no access rule or no handler. */
export function composeStreams(
  implementations: readonly Implementation[],
  options: PipelineOptions,
): readonly StreamMethod[] {
  const book = ruleBook(implementations);
  const rules = fieldRules(book);
  return implementations.flatMap(({ service, streams = {} }) =>
    service.methods.filter(isServerStream).map((descriptor) => {
      const path = methodPath(descriptor);
      const handler = streams[descriptor.localName];
      if (!handler) throw new Error(`${path} has no handler`);
      const rule = accessRuleOf(descriptor);
      if (!rule || rule.type === "open") throw new Error(`${path} has no access rule for callers with a token`);
      const validator = lazyValidator(descriptor, book);
      return new ComposedStream({ path, descriptor, rule, handler, validator, rules }, options);
    }),
  );
}

/** Compiles the validator of a method with its first request: most servers are asked for a few methods only. */
function lazyValidator(descriptor: DescMethod, book: RuleBook): Validator {
  const validator = once(() => compileValidator(descriptor, book));
  return (request, context) => validator()(request, context);
}

/** Returns the gRPC path of a method: `/package.Service/Method`. */
export function methodPath(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

/** Whether a method takes one message and returns one. */
export function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

function isServerStream(method: DescMethod): method is DescMethodServerStreaming {
  return method.methodKind === "server_streaming";
}

function ruleOf(path: string, descriptor: DescMethodUnary, exempt: ReadonlySet<string>): AccessRule {
  const rule = accessRuleOf(descriptor) ?? (exempt.has(path) ? ({ type: "open" } as const) : undefined);
  if (!rule) throw new Error(`${path} has no access rule`);
  return rule;
}
