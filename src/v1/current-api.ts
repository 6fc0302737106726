// Calls current methods (v2beta1) on behalf of version 1, with their validation and access rules.
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

/** The current methods, by descriptor. */
export interface CurrentApi {
  /** Throws an Error if a method is not served. */
  requireServed(method: DescMethod): void;
  /** Returns the violations of a request, by the rules of the method. */
  check<I extends DescMessage>(method: Unary<I>, request: MessageInitShape<I>): FieldViolation[];
  /**
   * Calls a method for an authenticated caller, with the validation and the access rule of that method. So version 1 cannot do
   * anything that the current method would deny.
   */
  call<I extends DescMessage, O extends DescMessage>(
    method: Unary<I, O>,
    request: MessageInitShape<I>,
    call: Call,
  ): Promise<MessageShape<O>>;
  /** Runs several reading methods in one snapshot. `body` gets a call to pass to them. */
  readTogether<T>(call: Call, body: (call: Call, session: Session) => Promise<T>): Promise<T>;
}

interface Known {
  readonly rule: AccessRule;
  readonly validate: Validator;
  readonly handle: (request: Message, call: Call) => unknown;
}

/** Makes the methods of services callable. */
export function newCurrentApi(
  implementations: readonly Implementation[],
  { clock, database }: Pick<ServiceContext, "clock" | "database">,
): CurrentApi {
  const { ownerOf, find } = newMethodTable(implementations);

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

/** Finds methods with their rules, which it compiles on first use: version 1 calls only a few of them. */
function newMethodTable(implementations: readonly Implementation[]) {
  const book = ruleBook(implementations);
  const owners = new Map(
    implementations.flatMap((each) => each.service.methods.map((method) => [methodPath(method), each] as const)),
  );
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

  return { ownerOf, find };
}

/** Returns the call as the current method sees it. Its path stays that of version 1, which the change log records. */
export function callOf(call: Call, descriptor: Unary): Call {
  return callAs(call, { path: call.method?.path ?? "", descriptor });
}
