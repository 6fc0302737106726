// Methods of version 1 that are methods of today in other words: each converts, calls today's method, and converts back.
import type { DescMessage, DescService, Message, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { FieldViolation } from "../aip/errors.ts";
import type { Call } from "../pipeline/call.ts";
import { type Handlers, type Implementation, implement } from "../pipeline/handlers.ts";
import type { MessageRules } from "../pipeline/text-rules.ts";
import type { Validator } from "../pipeline/validate.ts";
import { returnsEmpty } from "../resource/method-event.ts";
import type { Today, Unary } from "./current-api.ts";
import { correspond, type Names, reversed, rulesInV1 } from "./fields.ts";
import { renamer, renaming } from "./violations.ts";

/** A method of version 1 and the method of today that it stands for, if there is one. */
export interface Adapted<I extends DescMessage, O extends DescMessage> {
  readonly counterpart: Unary | undefined;
  readonly validate: Validator;
  handle(request: MessageShape<I>, call: Call): Promise<MessageInitShape<O>>;
  /** The event that it causes, if any; absent where that has no event to go by. */
  readonly event?: AdaptedEvent;
}

/** The event of a method of version 1: that of a method of today in other words. */
export interface AdaptedEvent {
  readonly of: Unary;
  /** Says the body in the words of version 1. */
  readonly told: (body: never) => Message;
}

/** The methods of a service of version 1: adapted, or written by hand where no single method of today does the same. */
export type V1Methods<S extends DescService> = {
  [K in keyof S["method"]]: S["method"][K] extends {
    methodKind: "unary";
    input: infer I extends DescMessage;
    output: infer O extends DescMessage;
  }
    ? Adapted<I, O> | Handlers<S>[K]
    : never;
};

/** A service of version 1, with today's counterparts of its methods by local name. */
export interface V1Implementation extends Implementation {
  readonly counterparts: ReadonlyMap<string, Unary>;
  /** The events of its methods by local name. */
  readonly events: ReadonlyMap<string, AdaptedEvent>;
}

/** Ties the methods of version 1 to their service. */
export function serve<S extends DescService>(
  service: S,
  methods: V1Methods<S>,
  rules: readonly MessageRules[] = [],
): V1Implementation {
  const entries = Object.entries<Adapted<DescMessage, DescMessage> | (() => unknown)>(methods as never);
  const adapted = entries.flatMap(([name, method]) => (typeof method === "function" ? [] : [[name, method] as const]));
  const handlers = entries.map(([name, method]) => [name, typeof method === "function" ? method : method.handle]);
  return {
    ...implement(service, Object.fromEntries(handlers) as Handlers<S>, rules),
    rulesOf: rulesInV1,
    validators: Object.fromEntries(adapted.map(([name, { validate }]) => [name, validate])),
    counterparts: new Map(adapted.flatMap(([name, { counterpart }]) => (counterpart ? [[name, counterpart]] : []))),
    events: new Map(adapted.flatMap(([name, { event }]) => (event ? [[name, event]] : []))),
  };
}

/** What it takes to adapt a method. */
export interface Adaptation<
  I1 extends DescMessage,
  O1 extends DescMessage,
  I2 extends DescMessage,
  O2 extends DescMessage,
> {
  request(request: MessageShape<I1>): MessageInitShape<I2>;
  /** Asks today's method, which may be more than once, and makes the reply. */
  answer(
    ask: (request: MessageInitShape<I2>) => Promise<MessageShape<O2>>,
    request: MessageShape<I1>,
  ): Promise<MessageInitShape<O1>>;
  /** Says a violation in the names of version 1. */
  rename(violation: FieldViolation, request: MessageShape<I1>): FieldViolation;
}

/** Adapts a method. Its requests are checked as those of its counterpart, before anything else is looked at. */
export function adapt<I1 extends DescMessage, O1 extends DescMessage, I2 extends DescMessage, O2 extends DescMessage>(
  today: Today,
  counterpart: Unary<I2, O2>,
  { request, answer, rename }: Adaptation<I1, O1, I2, O2>,
): Adapted<I1, O1> {
  return {
    counterpart,
    validate(message) {
      const own = message as MessageShape<I1>;
      return today.check(counterpart, request(own)).map((violation) => rename(violation, own));
    },
    handle: (own, call) =>
      renaming(
        (violation) => rename(violation, own),
        () => answer((asked) => today.call(counterpart, asked, call), own),
      ),
  };
}

/** A method that is written by hand, in the names of today, but is allowed to whom its counterpart is. */
export function handwritten<I extends DescMessage, O extends DescMessage>(
  counterpart: Unary | undefined,
  rename: (violation: FieldViolation, request: MessageShape<I>) => FieldViolation,
  method: {
    readonly check: (request: MessageShape<I>) => FieldViolation[];
    readonly answer: (request: MessageShape<I>, call: Call) => Promise<MessageInitShape<O>>;
    readonly event?: AdaptedEvent;
  },
): Adapted<I, O> {
  return {
    counterpart,
    ...(method.event && { event: method.event }),
    validate(message) {
      const own = message as MessageShape<I>;
      return method.check(own).map((violation) => rename(violation, own));
    },
    handle: (request, call) =>
      renaming(
        (violation) => rename(violation, request),
        () => method.answer(request, call),
      ),
  };
}

/** How a method differs from its counterpart, beyond what its fields are called. */
export interface Differences<
  I1 extends DescMessage,
  O1 extends DescMessage,
  I2 extends DescMessage,
  O2 extends DescMessage,
> {
  readonly names?: Names;
  /** What fields of the reply are called, where it is not the same as in the request. */
  readonly replyNames?: Names;
  /** Makes the request of today, which is otherwise made field by field. */
  readonly request?: (request: MessageShape<I1>) => MessageInitShape<I2>;
  /** Makes the reply of version 1, which is otherwise made field by field. */
  readonly reply?: (reply: MessageShape<O2>, request: MessageShape<I1>) => MessageInitShape<O1>;
}

/** A method that takes and answers the same as its counterpart, but for names. */
export function same<I1 extends DescMessage, O1 extends DescMessage, I2 extends DescMessage, O2 extends DescMessage>(
  today: Today,
  v1: Unary<I1, O1>,
  now: Unary<I2, O2>,
  { names = {}, replyNames = names, request, reply }: Differences<I1, O1, I2, O2> = {},
): Adapted<I1, O1> {
  const input = request ? undefined : correspond(v1.input, now.input, names);
  const output = reply ? undefined : correspond(v1.output, now.output, replyNames);
  const told = returnsEmpty(v1) ? input : output;
  const adapted = adapt<I1, O1, I2, O2>(today, now, {
    request: request ?? ((message) => input!.toNow(message) as never),
    answer: async (ask, message) => {
      const answered = await ask(request ? request(message) : (input!.toNow(message) as never));
      return reply ? reply(answered, message) : (output!.toV1(answered) as never);
    },
    rename: renamer([...reversed(names), ...(input?.renamed ?? [])]),
  });
  return told ? { ...adapted, event: { of: now, told: told.toV1 } } : adapted;
}

/** How a replacement differs from an update of everything. */
export interface Replacement {
  readonly names?: Names;
  /** What fields of the reply are called, where it is not the same as in the request. */
  readonly replyNames?: Names;
  /** The fields that are replaced; all of them when absent. */
  readonly mask?: readonly string[];
}

/** A PUT: the resource is the request, and whatever it leaves out is cleared. */
export function replace<V1 extends DescMessage, I2 extends DescMessage, O2 extends DescMessage>(
  today: Today,
  v1: Unary<V1, V1>,
  now: Unary<I2, O2>,
  { names = {}, replyNames = names, mask = ["*"] }: Replacement = {},
): Adapted<V1, V1> {
  const field = now.input.fields.find((candidate) => candidate.message?.typeName === now.output.typeName);
  if (!field) throw new Error(`${now.toString()} takes no ${now.output.name}`);
  const fields = correspond(v1.input, now.output, names);
  const answered = correspond(v1.output, now.output, replyNames);
  const request = (message: MessageShape<V1>) =>
    ({ [field.localName]: fields.toNow(message), updateMask: { paths: [...mask] } }) as never;
  const adapted = adapt<V1, V1, I2, O2>(today, now, {
    request,
    answer: async (ask, message) => answered.toV1(await ask(request(message))) as never,
    rename: renamer([...reversed(names), ...fields.renamed]),
  });
  return { ...adapted, event: { of: now, told: answered.toV1 } };
}
