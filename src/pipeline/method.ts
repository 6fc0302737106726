import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import type { Call } from "./call.ts";

/**
 * A unary method, ready to be called by any door.
 *
 * `invoke` runs the whole pipeline around the handler. It takes a message of `descriptor.input`, answers one of
 * `descriptor.output`, and rejects with nothing but a finished `ApiError` (its ErrorInfo detail included).
 */
export interface Method {
  /** The path of the method over gRPC: `/package.Service/Method`. */
  readonly path: string;
  readonly descriptor: DescMethodUnary;
  /** Whether the method is refused without a bearer token, so that doors need not read the body first. */
  readonly needsBearer: boolean;
  invoke(call: Call, request: Message): Promise<Message>;
}

/** Every unary method by its path. Some may not be made before they are asked for; `values` makes all of them. */
export interface MethodTable {
  get(path: string): Method | undefined;
  values(): Iterable<Method>;
}
