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

/** Calls methods with the access of a call. They are validated and authorized as if the caller had called them. */
export interface NestedMethods {
  /** Throws INVALID_ARGUMENT unless a request keeps the rules that need no database. */
  check(method: DescMethodUnary, request: object): void;
  /** Calls a method, and returns its response. The change log names this method, and not that of `call`. */
  call(method: DescMethodUnary, request: object, call: Call): Promise<unknown>;
}

/** Returns the methods of some services. */
export function nestedMethods(implementations: readonly Implementation[], clock: Clock): NestedMethods {
  const book = ruleBook(implementations);
  const byService = new Map(implementations.map((each) => [each.service.typeName, each]));
  const validators = new Map<DescMethodUnary, Validator>();

  function requestOf(method: DescMethodUnary, init: object): Message {
    const request = create(method.input, init as Record<string, unknown>);
    const validator = validators.get(method) ?? compileValidator(method, book);
    validators.set(method, validator);
    const now = clock();
    const violations = validator(request, { now, createTime: now });
    if (violations.length > 0) throw invalidArgument(violations);
    return request;
  }

  return {
    check: (method, request) => void requestOf(method, request),
    async call(method, init, call) {
      const request = requestOf(method, init);
      const { caller, access } = call;
      const nested: Call = {
        ...callAs(call, { path: methodPath(method), descriptor: method }),
        ...(caller && { caller }),
        ...(access && { access }),
      };
      authorize(nested, accessRuleOf(method)!, request);
      const handler = byService.get(method.parent.typeName)!.handlers[method.localName]!;
      return await handler(request as never, nested);
    },
  };
}
