// Methods that run inside of another call, which is authenticated and observed.
import { create, type DescMethodUnary, type Message } from "@bufbuild/protobuf";
import { invalidArgument } from "../aip/errors.ts";
import { accessRuleOf } from "../authz/rules.ts";
import type { Clock } from "../base/clock.ts";
import { authorize } from "./authorize.ts";
import { type Call, callAs } from "./call.ts";
import { methodPath } from "./compose.ts";
import type { Implementation } from "./handlers.ts";
import { ruleBook } from "./text-rules.ts";
import { compileValidator, type Validator } from "./validate.ts";

/** Returns the message of a request. Throws INVALID_ARGUMENT unless it keeps the rules that need no database. */
export type RequestCheck = (method: DescMethodUnary, request: object) => Message;

/** Makes the check of the requests of some services. Make it once: it compiles a validator for each method that is asked for. */
export function newRequestCheck(implementations: readonly Implementation[], clock: Clock): RequestCheck {
  const book = ruleBook(implementations);
  const own = new Map(implementations.map(({ service, validators = {} }) => [service.typeName, validators]));
  const compiled = new Map<DescMethodUnary, Validator>();

  function validatorOf(method: DescMethodUnary): Validator {
    const found = compiled.get(method) ?? own.get(method.parent.typeName)?.[method.localName];
    const validator = found ?? compileValidator(method, book);
    compiled.set(method, validator);
    return validator;
  }

  return (method, init) => {
    const request = create(method.input, init as Record<string, unknown>);
    const now = clock();
    const violations = validatorOf(method)(request, { now, createTime: now });
    if (violations.length > 0) throw invalidArgument(violations);
    return request;
  };
}

/**
 * Calls a method with the access of a call, and returns its response. The method is validated and authorized as if the caller had
 * called it. The change log names this method, and not that of `call`.
 */
export type NestedCall = (method: DescMethodUnary, request: object, call: Call) => Promise<unknown>;

/** Returns the function that calls the methods of some services. */
export function nestedCalls(implementations: readonly Implementation[], check: RequestCheck): NestedCall {
  const handlersOf = new Map(implementations.map(({ service, handlers }) => [service.typeName, handlers]));
  return async (method, init, call) => {
    if (call.lifetime?.ended) throw call.lifetime.ended;
    const request = check(method, init);
    const { caller, access } = call;
    const nested: Call = {
      ...callAs(call, { path: methodPath(method), descriptor: method }),
      caller,
      access,
      // The response is that of the call around it.
      setResponseHeader: () => {},
    };
    authorize(nested, accessRuleOf(method)!, request);
    const handler = handlersOf.get(method.parent.typeName)![method.localName]!;
    return await handler(request as never, nested);
  };
}
