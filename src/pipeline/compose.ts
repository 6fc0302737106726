// The method table: every unary method with the whole pipeline around its handler, composed once at start.
import { create, type DescMethod, type DescMethodUnary, type Message } from "@bufbuild/protobuf";
import { ApiError, Code, invalidArgument } from "../aip/errors.ts";
import { type AccessRule, accessRuleOf } from "../authz/rules.ts";
import type { Clock } from "../base/clock.ts";
import { once } from "../base/lazy.ts";
import { isPromise, type MaybePromise, mapMaybe } from "../base/maybe-promise.ts";
import { type AuthenticateDeps, authenticate, renewAccess } from "./authenticate.ts";
import { authorize } from "./authorize.ts";
import type { Call } from "./call.ts";
import { errorDomain, finishError } from "./complete-error.ts";
import type { Implementation } from "./handlers.ts";
import type { Method } from "./method.ts";
import type { Observer } from "./observe.ts";
import { type FieldRules, fieldRules, type RuleBook, ruleBook } from "./text-rules.ts";
import { compileValidator, type Validator } from "./validate.ts";

/** What all methods have in common. */
export interface ComposeOptions extends AuthenticateDeps {
  readonly clock: Clock;
  readonly observer: Observer;
  /** The domain of the installation, for ErrorInfo. */
  readonly domain: string;
  /** Told of each call that was allowed at a uid, before it is handled; nobody is when absent. */
  readonly enter?: (call: Call, uid: string) => MaybePromise<void>;
  /** Paths of the methods that check credentials of another kind by themselves. Any other method needs an access rule. */
  readonly exempt: ReadonlySet<string>;
}

type Handler = (request: Message, call: Call) => unknown;

/**
 * Composes the methods of some services. Throws when one has no rule or no handler: what is not decided must not be served.
 * The rules of messages are those that the services bring along, and those of the services beside them.
 */
export function composeMethods(
  implementations: readonly Implementation[],
  options: ComposeOptions,
  beside: readonly Implementation[] = [],
): ReadonlyMap<string, Method> {
  const book = ruleBook([...beside, ...implementations]);
  const rules = fieldRules(book);
  const table = new Map<string, Method>();
  for (const { service, handlers, validators = {}, rulesOf = asTheyAre } of implementations) {
    for (const descriptor of service.methods) {
      if (!isUnary(descriptor)) throw new Error(`${descriptor.toString()}: only unary methods are composed`);
      const path = methodPath(descriptor);
      const handler = handlers[descriptor.localName] as Handler | undefined;
      if (!handler) throw new Error(`${path} has no handler`);
      const validator = validators[descriptor.localName] ?? compiledLater(descriptor, book);
      table.set(path, { ...composeMethod(path, descriptor, handler, validator, options), rules: rulesOf(rules) });
    }
  }
  return table;
}

function asTheyAre(rules: FieldRules): FieldRules {
  return rules;
}

/** A validator that is compiled when a request first needs it: most servers are asked for a few methods only. */
function compiledLater(descriptor: DescMethodUnary, book: RuleBook): Validator {
  const validator = once(() => compileValidator(descriptor, book));
  return (request, context) => validator()(request, context);
}

/** The path of a method over gRPC. */
export function methodPath(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

function composeMethod(
  path: string,
  descriptor: DescMethodUnary,
  handler: Handler,
  validator: Validator,
  options: ComposeOptions,
): Omit<Method, "rules"> {
  const rule = ruleOf(path, descriptor, options.exempt);
  const domain = errorDomain(descriptor.parent, options.domain);
  const { observer } = options;

  const method = { path, descriptor };

  /** Static validation, then authorization: AIP-211 wants permission before existence, and the handler reads first. */
  function admit(call: Call, request: Message): void {
    const now = options.clock();
    const violations = validator(request, { now, createTime: now });
    if (violations.length > 0) throw invalidArgument(violations);
    authorize(call, rule, request);
  }

  function identify(call: Call): MaybePromise<void> {
    return rule.type === "open" || call.caller ? undefined : authenticate(call, options);
  }

  function answer(call: Call, request: Message): unknown {
    admit(call, request);
    const { enter } = options;
    if (!enter || rule.type !== "scoped" || rule.capabilities.length === 0) return handler(request, call);
    return mapMaybe(enter(call, rule.scopeOf(request)), () => handler(request, call) as MaybePromise<unknown>);
  }

  /** Another node may have granted a moment ago what was denied. A handler that denies has not changed anything. */
  async function answerDenied(call: Call, request: Message, startedAt: number, denial: unknown): Promise<Message> {
    try {
      if (!(await renewAccess(call, options))) throw denial;
      return succeed(call, startedAt, await answer(call, request));
    } catch (error) {
      return fail(call, startedAt, error);
    }
  }

  function settle(call: Call, request: Message, startedAt: number, error: unknown): Promise<Message> {
    return isDenial(error) ? answerDenied(call, request, startedAt, error) : fail(call, startedAt, error);
  }

  function succeed(call: Call, startedAt: number, reply: unknown): Message {
    const message = create(descriptor.output, reply as Message);
    observer(call, path, performance.now() - startedAt, undefined);
    return message;
  }

  function fail(call: Call, startedAt: number, error: unknown): never {
    const failure = finishError(error, domain);
    call.method = method;
    observer(call, path, performance.now() - startedAt, failure);
    throw failure;
  }

  return {
    ...method,
    errorDomain: domain,
    authenticate(call) {
      const startedAt = performance.now();
      try {
        const identified = identify(call);
        if (!isPromise(identified)) return undefined;
        return Promise.resolve(identified).catch((error) => fail(call, startedAt, error));
      } catch (error) {
        return fail(call, startedAt, error);
      }
    },
    invoke(call, request) {
      const startedAt = performance.now();
      try {
        call.method = method;
        const reply = mapMaybe(identify(call), () => answer(call, request));
        if (!isPromise(reply)) return succeed(call, startedAt, reply);
        return reply
          .then((found) => succeed(call, startedAt, found))
          .then(undefined, (error) => settle(call, request, startedAt, error));
      } catch (error) {
        return settle(call, request, startedAt, error);
      }
    },
  };
}

function isDenial(error: unknown): boolean {
  return error instanceof ApiError && error.code === Code.PERMISSION_DENIED;
}

function ruleOf(path: string, descriptor: DescMethodUnary, exempt: ReadonlySet<string>): AccessRule {
  const rule = accessRuleOf(descriptor) ?? (exempt.has(path) ? ({ type: "open" } as const) : undefined);
  if (!rule) throw new Error(`${path} has no access rule`);
  return rule;
}

/** Whether a method takes one message and answers one. */
export function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}
