// One method with the pipeline around its handler: authenticate, decode, validate, authorize, handle, observe.
import { create, type DescMethodUnary, type Message } from "@bufbuild/protobuf";
import { ApiError, Code, invalidArgument } from "../aip/errors.ts";
import type { AccessRule } from "../authz/rules.ts";
import type { Clock } from "../base/clock.ts";
import { isPromise, type MaybePromise, mapMaybe } from "../base/maybe-promise.ts";
import { countOther } from "../base/slices.ts";
import { tracing } from "../base/tracing.ts";
import { type AuthenticateDeps, authenticate, refreshAccess, renewAccess } from "./authenticate.ts";
import { authorize, deletesBinding } from "./authorize.ts";
import type { Call } from "./call.ts";
import { errorDomain, finishError } from "./complete-error.ts";
import { isAlwaysExpensive, isExpensive, mayHaveBudget } from "./expensive.ts";
import type { ForwardCall } from "./forwarding.ts";
import { IdempotencyKeyUse, idempotencyKeyOf, keyUnsupported, type RunInTransaction } from "./idempotency-key.ts";
import type { Method } from "./method.ts";
import type { Observer } from "./observe.ts";
import { preconditionOf, preconditionUnsupported } from "./precondition.ts";
import type { FieldRules } from "./text-rules.ts";
import { tracedCallOf } from "./traced-call.ts";
import type { Turns } from "./turns.ts";
import type { Validator } from "./validate.ts";

/** Responds to a decoded request. */
export type Handler = (request: Message, call: Call) => unknown;

/** The options that all methods share. */
export interface PipelineOptions extends AuthenticateDeps {
  readonly clock: Clock;
  readonly observer: Observer;
  /** The domain of the installation, for ErrorInfo. */
  readonly domain: string;
  /** Called with each call that is authorized at a uid, before its handler runs. */
  readonly enter?: (call: Call, uid: string) => MaybePromise<void>;
  /** Runs expensive calls in turn. */
  readonly turns: Turns;
  /** Whether a role binding is that of the calling person, who may always delete it. */
  readonly ownsBinding?: (call: Call, uid: string) => MaybePromise<boolean>;
  /** Forwards calls that write; absent if this process executes all calls. */
  readonly forward?: ForwardCall | undefined;
  /** Runs calls with an idempotency key or a precondition. */
  readonly runInTransaction?: RunInTransaction | undefined;
}

/** The definition of one method. */
interface MethodDefinition {
  readonly path: string;
  readonly descriptor: DescMethodUnary;
  readonly rule: AccessRule;
  /** Whether its calls write. */
  readonly isWrite: boolean;
  readonly keyUse: IdempotencyKeyUse;
  readonly handler: Handler;
  readonly validator: Validator;
  readonly rules: FieldRules;
}

/** Calls run synchronously as far as their steps do: see base/maybe-promise.ts. */
export class ComposedMethod implements Method {
  readonly path: string;
  readonly descriptor: DescMethodUnary;
  readonly rules: FieldRules;
  readonly errorDomain: string;
  readonly #definition: MethodDefinition;
  readonly #options: PipelineOptions;
  readonly #isExpensive: (request: Message) => boolean;
  /** Specification, "Limits": published methods have no rate limits. */
  readonly #isBudgeted: boolean;
  /** Whether each call takes time of the budget. */
  readonly #takesBudget: boolean;

  constructor(definition: MethodDefinition, options: PipelineOptions) {
    this.path = definition.path;
    this.descriptor = definition.descriptor;
    this.rules = definition.rules;
    this.errorDomain = errorDomain(definition.descriptor.parent, options.domain);
    this.#definition = definition;
    this.#options = options;
    // Without a caller there are no turns.
    this.#isExpensive = definition.rule.type === "open" ? () => false : isExpensive(definition.handler);
    this.#isBudgeted =
      definition.descriptor.parent.typeName.startsWith("gatehouse.") && mayHaveBudget(definition.handler);
    this.#takesBudget = this.#isBudgeted && definition.rule.type !== "open" && isAlwaysExpensive(definition.handler);
  }

  call(call: Call, decode: () => MaybePromise<Message>): MaybePromise<Message> {
    const traces = tracing();
    if (!traces?.isSampled(call)) return this.#call(call, decode);
    let request: Message | undefined;
    const remember = () => mapMaybe(decode(), (decoded) => (request = decoded));
    const described = tracedCallOf(this, this.#definition.rule, call, () => request);
    return traces.call(described, () => this.#call(call, remember));
  }

  #call(call: Call, decode: () => MaybePromise<Message>): MaybePromise<Message> {
    const identified = this.#identify(call);
    if (isPromise(identified)) return identified.then(() => this.#receive(call, decode));
    return this.#receive(call, decode);
  }

  #receive(call: Call, decode: () => MaybePromise<Message>): MaybePromise<Message> {
    if (this.#takesBudget) this.#requireBudget(call);
    const request = decode();
    return isPromise(request) ? request.then((decoded) => this.#run(call, decoded)) : this.#run(call, request);
  }

  /** Rejects a call that has no time left before its request, which may be large, is parsed. */
  #requireBudget(call: Call): void {
    const startedAt = performance.now();
    try {
      this.#options.turns.requireBudget(call);
    } catch (error) {
      this.#fail(call, startedAt, error);
    }
  }

  #identify(call: Call): MaybePromise<void> {
    if (this.#definition.rule.type === "open" || call.caller) return undefined;
    const startedAt = performance.now();
    try {
      const identified = authenticate(call, this.#options);
      if (isPromise(identified)) return identified.then(undefined, (error) => this.#fail(call, startedAt, error));
    } catch (error) {
      return this.#fail(call, startedAt, error);
    }
  }

  #run(call: Call, request: Message): MaybePromise<Message> {
    const startedAt = performance.now();
    try {
      call.method = this;
      const result = this.#handle(call, request) as MaybePromise<unknown>;
      if (!isPromise(result)) return this.#succeed(call, startedAt, result);
      return result
        .then((found) => this.#succeed(call, startedAt, found))
        .then(undefined, (error) => this.#recover(call, request, startedAt, error));
    } catch (error) {
      return this.#recover(call, request, startedAt, error);
    }
  }

  /** AIP-211: authorization comes before existence. The handler reads, so it runs last. */
  #handle(call: Call, request: Message): unknown {
    const { rule, isWrite, validator } = this.#definition;
    const { clock, ownsBinding, forward } = this.#options;
    const now = clock();
    const violations = validator(request, { now, createTime: now });
    if (violations.length > 0) throw invalidArgument(violations);
    const forwarded = isWrite ? forward?.(this, request, call) : undefined;
    if (forwarded) return forwarded;
    if (!ownsBinding || rule.type !== "scoped" || !deletesBinding(rule)) return this.#authorize(call, request);
    const uid = rule.scopeOf(request);
    return mapMaybe(ownsBinding(call, uid), (isOwn) => {
      if (!isOwn) return this.#authorize(call, request);
      call.ownBinding = uid;
      return this.#respond(call, request);
    });
  }

  #authorize(call: Call, request: Message): MaybePromise<unknown> {
    authorize(call, this.#definition.rule, request);
    if (!this.#isExpensive(request)) {
      countOther();
      return this.#execute(call, request);
    }
    return this.#options.turns.run(call, this.#isBudgeted, async (hasWaited) => {
      if (hasWaited) await this.#authorizeAgain(call, request);
      return await this.#execute(call, request);
    });
  }

  /** A call that waited for others has the access of now, not of when it arrived. */
  async #authorizeAgain(call: Call, request: Message): Promise<void> {
    await refreshAccess(call, this.#options);
    authorize(call, this.#definition.rule, request);
  }

  #execute(call: Call, request: Message): MaybePromise<unknown> {
    const { rule } = this.#definition;
    const { enter } = this.#options;
    if (!enter || rule.type !== "scoped" || rule.capabilities.length === 0) return this.#respond(call, request);
    return mapMaybe(enter(call, rule.scopeOf(request)), () => this.#respond(call, request));
  }

  #respond(call: Call, request: Message): MaybePromise<unknown> {
    const { handler, keyUse, rule } = this.#definition;
    if (keyUse === IdempotencyKeyUse.IGNORED) return handler(request, call) as MaybePromise<unknown>;
    const key = idempotencyKeyOf(call);
    const precondition = preconditionOf(call, rule.type === "scoped" ? rule.scopeOf(request) : "");
    if (key === undefined && !precondition) return handler(request, call) as MaybePromise<unknown>;
    const { runInTransaction } = this.#options;
    if (keyUse === IdempotencyKeyUse.REJECTED || !runInTransaction)
      throw precondition ? preconditionUnsupported(this) : keyUnsupported(this);
    call.precondition = precondition;
    return runInTransaction(this, request, call, { key, precondition });
  }

  #recover(call: Call, request: Message, startedAt: number, error: unknown): Promise<Message> {
    return isDenial(error) ? this.#retryDenied(call, request, startedAt, error) : this.#fail(call, startedAt, error);
  }

  /** Another node may just have granted what was denied. A handler that denies has changed nothing. */
  async #retryDenied(call: Call, request: Message, startedAt: number, denial: unknown): Promise<Message> {
    try {
      if (!(await renewAccess(call, this.#options))) throw denial;
      return this.#succeed(call, startedAt, await this.#handle(call, request));
    } catch (error) {
      return this.#fail(call, startedAt, error);
    }
  }

  #succeed(call: Call, startedAt: number, result: unknown): Message {
    const message = create(this.descriptor.output, result as Message);
    this.#observe(call, startedAt, undefined);
    return message;
  }

  #fail(call: Call, startedAt: number, error: unknown): never {
    const failure = finishError(error, this.errorDomain);
    call.method = this;
    this.#observe(call, startedAt, failure);
    throw failure;
  }

  #observe(call: Call, startedAt: number, failure: ApiError | undefined): void {
    if (!call.isForwarded) this.#options.observer(call, this.path, performance.now() - startedAt, failure);
  }
}

function isDenial(error: unknown): boolean {
  return error instanceof ApiError && error.code === Code.PERMISSION_DENIED;
}
