import type { DescMethodServerStreaming, DescMethodUnary, Message } from "@bufbuild/protobuf";
import type { MaybePromise } from "../base/maybe-promise.ts";
import type { Call, CalledMethod } from "./call.ts";
import type { FieldRules } from "./text-rules.ts";

/** The parts that unary methods and streams have in common. */
export interface ServedMethod extends CalledMethod {
  /** The domain for the ErrorInfo of errors that a transport makes itself. */
  readonly errorDomain: string;
  /** The rules for the fields of its request. */
  readonly rules: FieldRules;
}

/** A unary method with the pipeline around its handler, which any transport can call. */
export interface Method extends ServedMethod {
  readonly descriptor: DescMethodUnary;
  /**
   * Runs a call: authenticates the caller, decodes the request, validates it, authorizes the caller, and runs the handler.
   * Authentication comes first because decoding what an anonymous caller sends may take a thousand times as long.
   *
   * `decode` returns a message of `descriptor.input`; the result is one of `descriptor.output`, without a promise if no step
   * waits. What `decode` throws is thrown unchanged and not logged. Any other error is an `ApiError` with its ErrorInfo.
   */
  call(call: Call, decode: () => MaybePromise<Message>): MaybePromise<Message>;
}

/** A method whose response is a stream, with the pipeline around its handler. */
export interface StreamMethod extends ServedMethod {
  readonly descriptor: DescMethodServerStreaming;
  /**
   * Runs a call with the same steps as a unary one. Yields messages of `descriptor.output`; any error is an `ApiError` with its ErrorInfo.
   * The call ends when the iteration does, or when the signal of the call is aborted.
   */
  open(call: Call, decode: () => MaybePromise<Message>): AsyncGenerator<Message, void>;
}

/** Every unary method by its gRPC path. Some are made on first use; `values` makes all of them. */
export interface MethodTable {
  get(path: string): Method | undefined;
  values(): Iterable<Method>;
}
