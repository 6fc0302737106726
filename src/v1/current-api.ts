// What version 1 is built on: the methods of today, by their descriptors. A rule is written once, for them.
import {
  create,
  type DescMessage,
  type DescMethod,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { type FieldViolation, invalidArgument } from "../aip/errors.ts";
import { type AccessRule, accessRuleOf } from "../authz/rules.ts";
import { authorize, methodOf } from "../pipeline/authorize.ts";
import { type Call, callAs } from "../pipeline/call.ts";
import { methodPath } from "../pipeline/compose.ts";
import type { Implementation } from "../pipeline/handlers.ts";
import { ruleBook } from "../pipeline/text-rules.ts";
import { compileValidator, type Validator } from "../pipeline/validate.ts";
import { readTogether, type ServiceContext } from "../resource/service-context.ts";
import type { Session } from "../storage/engine/session.ts";

/** A unary method and the types of its messages. */
export type Unary<I extends DescMessage = DescMessage, O extends DescMessage = DescMessage> = DescMethod & {
  readonly methodKind: "unary";
  readonly input: I;
  readonly output: O;
};

/** The methods of today. */
export interface Today {
  /** Throws an Error when a method is not served. */
  requireServed(method: DescMethod): void;
  /** What a method would find wrong with a request. */
  check<I extends DescMessage>(method: Unary<I>, request: MessageInitShape<I>): FieldViolation[];
  /**
   * Answers a request as the method would, on behalf of a caller who is known: with its checks, and with its own access
   * rule, so that version 1 can never do what today's method would refuse.
   */
  call<I extends DescMessage, O extends DescMessage>(
    method: Unary<I, O>,
    request: MessageInitShape<I>,
    call: Call,
  ): Promise<MessageShape<O>>;
  /** Answers a request by several methods that read: all of them, and the body, read from one snapshot. */
  readTogether<T>(call: Call, body: (call: Call, session: Session) => Promise<T>): Promise<T>;
}

interface Known {
  readonly rule: AccessRule;
  readonly validate: Validator;
  readonly handle: (request: Message, call: Call) => unknown;
}

/** Makes the methods of some services callable. */
export function newCurrentApi(
  implementations: readonly Implementation[],
  { clock, database }: Pick<ServiceContext, "clock" | "database">,
): Today {
  const book = ruleBook(implementations);
  const owners = new Map(
    implementations.flatMap((each) => each.service.methods.map((method) => [methodPath(method), each] as const)),
  );
  // Compiled at first use: version 1 calls a few of them only.
  const known = new Map<string, Known>();

  function ownerOf(method: DescMethod): Implementation {
    const owner = owners.get(methodPath(method));
    if (!owner) throw new Error(`${methodPath(method)} is not served`);
    return owner;
  }

  function find(method: Unary): Known {
    const path = methodPath(method);
    let found = known.get(path);
    if (!found) {
      found = compile(method);
      known.set(path, found);
    }
    return found;
  }

  function compile(method: Unary): Known {
    const handle = ownerOf(method).handlers[method.localName] as Known["handle"];
    const rule = accessRuleOf(method);
    if (!rule) throw new Error(`${methodPath(method)} has no access rule`);
    return { rule, validate: compileValidator(method, book), handle };
  }

  function violationsOf(method: Unary, request: Message): FieldViolation[] {
    const now = clock();
    return find(method).validate(request, { now, createTime: now });
  }

  return {
    requireServed: ownerOf,
    check: (method, init) => violationsOf(method, create(method.input, init)),
    async call(method, init, call) {
      const { rule, handle } = find(method);
      const request = create(method.input, init);
      const violations = violationsOf(method, request);
      if (violations.length > 0) throw invalidArgument(violations);
      const inner = callOf(call, method);
      authorize(inner, rule, request);
      return create(method.output, (await handle(request, inner)) as never);
    },
    readTogether: (call, body) =>
      readTogether(database, call, (snapshot) => body({ ...callAs(call, methodOf(call)), snapshot }, snapshot)),
  };
}

/** The same call, as the method of today sees it. What is written says of itself that it was written by version 1. */
export function callOf(call: Call, descriptor: Unary): Call {
  return callAs(call, { path: call.method?.path ?? "", descriptor });
}
