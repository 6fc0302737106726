import type { Message } from "@bufbuild/protobuf";
import type { MaybePromise } from "../base/maybe-promise.ts";
import type { Call, CalledMethod } from "./call.ts";
import type { FieldRules } from "./text-rules.ts";

/**
 * A unary method, ready to be called by any door.
 *
 * `invoke` runs the whole pipeline around the handler. It takes a message of `descriptor.input`, answers one of
 * `descriptor.output`, at once where the handler does, and throws, or rejects with, nothing but a finished `ApiError` (its
 * ErrorInfo detail included).
 *
 * `authenticate` is its first step, for a door to take before it decodes what a stranger has sent; `invoke` then leaves it out.
 * At once where that is possible; throws, or rejects with, a finished `ApiError`. Nothing for a method that is open to all.
 */
export interface Method extends CalledMethod {
  /** The domain of the ErrorInfo that a door adds to what goes wrong before the method is called. */
  readonly errorDomain: string;
  /** What is asked of the fields of its request. */
  readonly rules: FieldRules;
  authenticate(call: Call): Promise<void> | undefined;
  invoke(call: Call, request: Message): MaybePromise<Message>;
}

/** Every unary method by its path. Some may not be made before they are asked for; `values` makes all of them. */
export interface MethodTable {
  get(path: string): Method | undefined;
  values(): Iterable<Method>;
}
