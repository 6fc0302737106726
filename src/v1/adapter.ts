// Adapts methods of version 1 to current methods (v2beta1): converts the request, calls the current method, converts the response.
import type { DescMessage, DescService, Message, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { FieldViolation } from "../aip/errors.ts";
import type { Call } from "../pipeline/call.ts";
import { expensive } from "../pipeline/expensive.ts";
import { type Handlers, type Implementation, implement } from "../pipeline/handlers.ts";
import type { MessageRules } from "../pipeline/text-rules.ts";
import type { Validator } from "../pipeline/validate.ts";
import { returnsEmpty } from "../resource/method-event.ts";
import type { CurrentApi, Unary } from "./current-api.ts";
import { type FieldNames, mapMessages, reversed, rulesInV1 } from "./fields.ts";
import { renamer, renaming } from "./violations.ts";

/** A method of version 1 with its current counterpart, if it has one. */
export interface Adapted<I extends DescMessage, O extends DescMessage> {
  readonly counterpart: Unary | undefined;
  readonly validate: Validator;
  handle(request: MessageShape<I>, call: Call): Promise<MessageInitShape<O>>;
  /** The event of the method; absent if its counterpart has none. */
  readonly event?: AdaptedEvent | undefined;
}

/** The event of a method of version 1, converted from that of a current method. */
export interface AdaptedEvent {
  readonly of: Unary;
  /** Converts the body of the event. */
  readonly toV1Event: (body: never) => Message;
}

/** The methods of a service of version 1: adapted, or handlers of their own where no single current method does the same. */
export type V1Methods<S extends DescService> = {
  [K in keyof S["method"]]: S["method"][K] extends {
    methodKind: "unary";
    input: infer I extends DescMessage;
    output: infer O extends DescMessage;
  }
    ? Adapted<I, O> | Handlers<S>[K & keyof Handlers<S>]
    : never;
};

/** A service of version 1, with the current counterparts of its methods by local name. */
export interface V1Implementation extends Implementation {
  readonly counterparts: ReadonlyMap<string, Unary>;
  /** The events of its methods, by local name. */
  readonly events: ReadonlyMap<string, AdaptedEvent>;
}

/** Builds the implementation of a service of version 1 from its methods. */
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

/** The conversions that adapt a method. */
export interface Adaptation<
  I1 extends DescMessage,
  O1 extends DescMessage,
  I2 extends DescMessage,
  O2 extends DescMessage,
> {
  request(request: MessageShape<I1>): MessageInitShape<I2>;
  /** Calls the current method, possibly several times, and builds the response. */
  respond(
    callCurrent: (request: MessageInitShape<I2>) => Promise<MessageShape<O2>>,
    request: MessageShape<I1>,
  ): Promise<MessageInitShape<O1>>;
  /** Renames the fields of a violation to those of version 1. */
  rename(violation: FieldViolation, request: MessageShape<I1>): FieldViolation;
}

/** Adapts a method. Requests are validated by the rules of the counterpart first. */
export function adapt<I1 extends DescMessage, O1 extends DescMessage, I2 extends DescMessage, O2 extends DescMessage>(
  api: CurrentApi,
  counterpart: Unary<I2, O2>,
  { request, respond, rename }: Adaptation<I1, O1, I2, O2>,
): Adapted<I1, O1> {
  return {
    counterpart,
    validate(message) {
      const own = message as MessageShape<I1>;
      return api.check(counterpart, request(own)).map((violation) => rename(violation, own));
    },
    handle: (own, call) =>
      renaming(
        (violation) => rename(violation, own),
        () => respond((asked) => api.call(counterpart, asked, call), own),
      ),
  };
}

/** Makes a method with a handler of its own that has the access rule of its counterpart. */
export function handwritten<I extends DescMessage, O extends DescMessage>(
  counterpart: Unary | undefined,
  rename: (violation: FieldViolation, request: MessageShape<I>) => FieldViolation,
  method: {
    readonly check: (request: MessageShape<I>) => FieldViolation[];
    readonly respond: (request: MessageShape<I>, call: Call) => Promise<MessageInitShape<O>>;
    readonly event?: AdaptedEvent | undefined;
    /** Returns whether a call takes long to compute (pipeline/expensive.ts); never if absent. */
    readonly isExpensive?: (request: MessageShape<I>) => boolean;
  },
): Adapted<I, O> {
  const handle = (request: MessageShape<I>, call: Call) =>
    renaming(
      (violation) => rename(violation, request),
      () => method.respond(request, call),
    );
  return {
    counterpart,
    event: method.event,
    validate(message) {
      const own = message as MessageShape<I>;
      return method.check(own).map((violation) => rename(violation, own));
    },
    handle: method.isExpensive ? expensive(handle, method.isExpensive) : handle,
  };
}

/** The differences of a method from its counterpart. */
export interface Differences<
  I1 extends DescMessage,
  O1 extends DescMessage,
  I2 extends DescMessage,
  O2 extends DescMessage,
> {
  readonly names?: FieldNames;
  /** The names of response fields, if they differ from those of the request. */
  readonly responseNames?: FieldNames;
  /** Builds the current request; by default it is converted field by field. */
  readonly request?: (request: MessageShape<I1>) => MessageInitShape<I2>;
  /** Builds the response of version 1; by default it is converted field by field. */
  readonly response?: (response: MessageShape<O2>, request: MessageShape<I1>) => MessageInitShape<O1>;
}

/** Adapts a method that differs from its counterpart in names only. */
export function passThrough<
  I1 extends DescMessage,
  O1 extends DescMessage,
  I2 extends DescMessage,
  O2 extends DescMessage,
>(
  api: CurrentApi,
  v1: Unary<I1, O1>,
  current: Unary<I2, O2>,
  { names = {}, responseNames = names, request, response }: Differences<I1, O1, I2, O2> = {},
): Adapted<I1, O1> {
  const input = request ? undefined : mapMessages(v1.input, current.input, names);
  const output = response ? undefined : mapMessages(v1.output, current.output, responseNames);
  const toV1Event = returnsEmpty(v1) ? input : output;
  const adapted = adapt<I1, O1, I2, O2>(api, current, {
    request: request ?? ((message) => input!.toCurrent(message) as never),
    respond: async (callCurrent, message) => {
      const answered = await callCurrent(request ? request(message) : (input!.toCurrent(message) as never));
      return response ? response(answered, message) : (output!.toV1(answered) as never);
    },
    rename: renamer([...reversed(names), ...(input?.renamed ?? [])]),
  });
  return toV1Event ? { ...adapted, event: { of: current, toV1Event: toV1Event.toV1 } } : adapted;
}

/** The differences of a PUT from an update of all fields. */
export interface Replacement {
  readonly names?: FieldNames;
  /** The names of response fields, if they differ from those of the request. */
  readonly responseNames?: FieldNames;
  /** The mask of the update; all fields if absent. */
  readonly mask?: readonly string[];
}

/** Adapts a PUT to an update. The request is the resource; fields that it omits are cleared. */
export function putAsUpdate<V1 extends DescMessage, I2 extends DescMessage, O2 extends DescMessage>(
  api: CurrentApi,
  v1: Unary<V1, V1>,
  current: Unary<I2, O2>,
  { names = {}, responseNames = names, mask = ["*"] }: Replacement = {},
): Adapted<V1, V1> {
  const field = current.input.fields.find((candidate) => candidate.message?.typeName === current.output.typeName);
  if (!field) throw new Error(`${current.toString()} takes no ${current.output.name}`);
  const fields = mapMessages(v1.input, current.output, names);
  const answered = mapMessages(v1.output, current.output, responseNames);
  const request = (message: MessageShape<V1>) =>
    ({ [field.localName]: fields.toCurrent(message), updateMask: { paths: [...mask] } }) as never;
  const adapted = adapt<V1, V1, I2, O2>(api, current, {
    request,
    respond: async (callCurrent, message) => answered.toV1(await callCurrent(request(message))) as never,
    rename: renamer([...reversed(names), ...fields.renamed]),
  });
  return { ...adapted, event: { of: current, toV1Event: answered.toV1 } };
}
