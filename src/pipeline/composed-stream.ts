// One method whose response is a stream, with the pipeline around its handler.
import { create, type DescMethodServerStreaming, type Message } from "@bufbuild/protobuf";
import { ApiError, invalidArgument, streamEnded } from "../aip/errors.ts";
import type { AccessRule } from "../authz/rules.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";
import { StorageUnavailable } from "../storage/engine/errors.ts";
import { authenticate, renewStream } from "./authenticate.ts";
import { authorize } from "./authorize.ts";
import type { Call } from "./call.ts";
import { errorDomain, finishError } from "./complete-error.ts";
import type { PipelineOptions } from "./composed-method.ts";
import type { StreamContext, StreamHandler } from "./handlers.ts";
import type { StreamMethod } from "./method.ts";
import type { FieldRules } from "./text-rules.ts";
import type { Validator } from "./validate.ts";

/** The definition of one stream. */
interface StreamDefinition {
  readonly path: string;
  readonly descriptor: DescMethodServerStreaming;
  readonly rule: AccessRule;
  readonly handler: StreamHandler;
  readonly validator: Validator;
  readonly rules: FieldRules;
}

/** A stream takes no idempotency key and no precondition, is never forwarded, and its caller is authorized again while it is open. */
export class ComposedStream implements StreamMethod {
  readonly path: string;
  readonly descriptor: DescMethodServerStreaming;
  readonly rules: FieldRules;
  readonly errorDomain: string;
  readonly #definition: StreamDefinition;
  readonly #options: PipelineOptions;

  constructor(definition: StreamDefinition, options: PipelineOptions) {
    this.path = definition.path;
    this.descriptor = definition.descriptor;
    this.rules = definition.rules;
    this.errorDomain = errorDomain(definition.descriptor.parent, options.domain);
    this.#definition = definition;
    this.#options = options;
  }

  async *open(call: Call, decode: () => MaybePromise<Message>): AsyncGenerator<Message, void> {
    const startedAt = performance.now();
    let isOpen = false;
    try {
      call.method = this;
      const request = await this.#admit(call, decode);
      for await (const response of this.#definition.handler(request as never, call, this.#contextOf(call))) {
        // The latency of a stream is that of its first response.
        if (!isOpen) this.#observe(call, startedAt, undefined);
        isOpen = true;
        yield create(this.descriptor.output, response as Message);
      }
    } catch (error) {
      // The client has left, or its deadline has passed: the transport knows which.
      if (call.signal?.aborted && !isPlanned(error)) return;
      const failure = finishError(isOpen ? toEnd(error) : error, this.errorDomain);
      if (!isOpen || !failure.isExpected) this.#observe(call, startedAt, failure);
      throw failure;
    }
  }

  async #admit(call: Call, decode: () => MaybePromise<Message>): Promise<Message> {
    const { rule, validator } = this.#definition;
    await authenticate(call, this.#options);
    const request = await decode();
    const now = this.#options.clock();
    const violations = validator(request, { now, createTime: now });
    if (violations.length > 0) throw invalidArgument(violations);
    authorize(call, rule, request);
    return request;
  }

  #contextOf(call: Call): StreamContext {
    return {
      renewAccess: (epoch) => renewStream(call, epoch, this.#options),
      runInTurn: (body) => this.#options.turns.run(call, false, body),
    };
  }

  #observe(call: Call, startedAt: number, failure: ApiError | undefined): void {
    this.#options.observer(call, this.path, performance.now() - startedAt, failure);
  }
}

function isPlanned(error: unknown): boolean {
  return error instanceof ApiError && error.isExpected;
}

/** A stream that the database cannot serve ends, and the client calls again. */
function toEnd(error: unknown): unknown {
  return error instanceof StorageUnavailable
    ? streamEnded("the database cannot serve now; call again with the last `resume_after`")
    : error;
}
