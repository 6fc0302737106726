// The method table: every unary method with the whole pipeline around its handler, composed once at start.
import { create, type DescMethod, type DescMethodUnary, type Message } from "@bufbuild/protobuf";
import { invalidArgument } from "../aip/errors.ts";
import { type AccessRule, accessRuleOf } from "../authz/rules.ts";
import type { Clock } from "../clock.ts";
import { once } from "../lazy.ts";
import { isLater, whenThere } from "../soon.ts";
import { type AuthenticateDeps, authenticate } from "./authenticate.ts";
import { authorize } from "./authorize.ts";
import type { Call } from "./call.ts";
import { errorDomain, finishError } from "./finish-error.ts";
import type { Implementation } from "./handlers.ts";
import type { Method } from "./method.ts";
import type { Observer } from "./observe.ts";
import { type RuleBook, ruleBook } from "./rule-book.ts";
import { compileValidator, type Validator } from "./validate.ts";

/** What all methods have in common. */
export interface ComposeOptions extends AuthenticateDeps {
  readonly clock: Clock;
  readonly observer: Observer;
  /** The domain of the installation, for ErrorInfo. */
  readonly domain: string;
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
  const table = new Map<string, Method>();
  for (const { service, handlers, validators = {} } of implementations) {
    for (const descriptor of service.methods) {
      if (!isUnary(descriptor)) throw new Error(`${descriptor.toString()}: only unary methods are composed`);
      const path = methodPath(descriptor);
      const handler = handlers[descriptor.localName] as Handler | undefined;
      if (!handler) throw new Error(`${path} has no handler`);
      const validator = validators[descriptor.localName] ?? compiledLater(descriptor, book);
      table.set(path, composeMethod(path, descriptor, handler, validator, options));
    }
  }
  return table;
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
): Method {
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

  function identify(call: Call): Promise<void> | undefined {
    return rule.type === "open" || call.caller ? undefined : authenticate(call, options);
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
        return identify(call)?.catch((error) => fail(call, startedAt, error));
      } catch (error) {
        return fail(call, startedAt, error);
      }
    },
    invoke(call, request) {
      const startedAt = performance.now();
      try {
        call.method = method;
        const reply = whenThere(identify(call), () => {
          admit(call, request);
          return handler(request, call);
        });
        if (!isLater(reply)) return succeed(call, startedAt, reply);
        return reply
          .then((found) => succeed(call, startedAt, found))
          .then(undefined, (error) => fail(call, startedAt, error));
      } catch (error) {
        return fail(call, startedAt, error);
      }
    },
  };
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
