// Idempotency keys: a call that is repeated with its key has the response of the first, and changes nothing again
// (draft-ietf-httpapi-idempotency-key-header-06).
import { type DescMethod, getOption, type Message } from "@bufbuild/protobuf";
import { IdempotencyKeyUse, idempotency_key } from "../../gen/gatehouse/annotations/v1/idempotency_pb.ts";
import { ApiError, Code } from "../aip/errors.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";
import type { Call, CalledMethod } from "./call.ts";
import type { CheckedPrecondition } from "./precondition.ts";

export { IdempotencyKeyUse };

/** Returns what a method that may write does with a key. */
export function keyUseOf(method: DescMethod): IdempotencyKeyUse {
  return getOption(method, idempotency_key) || IdempotencyKeyUse.TAKEN;
}

/** The request header of the key. */
export const idempotencyHeader = "idempotency-key";

/** The maximum length of a key in characters. */
const maxLength = 255;

/**
 * Runs the handler of a call in one transaction: with a key together with storing the response, which it returns to a repetition; with a
 * precondition, which it must have checked. Absent where no database is changed.
 */
export type RunInTransaction = (
  method: CalledMethod,
  request: Message,
  call: Call,
  conditions: { readonly key: string | undefined; readonly precondition: CheckedPrecondition | undefined },
) => MaybePromise<Message>;

/**
 * Returns the key of a call, or undefined if it has none. RFC 9651 §3.3.3: a String in quotes; the same without quotes is accepted, too.
 * Throws INVALID_ARGUMENT with reason IDEMPOTENCY_KEY_INVALID. Two fields arrive as one, with a comma and a space.
 */
export function idempotencyKeyOf(call: Pick<Call, "header">): string | undefined {
  const header = call.header(idempotencyHeader);
  if (header === undefined) return undefined;
  const key = /^"(?<text>.*)"$/.exec(header)?.groups?.text ?? header;
  if (key.length >= 1 && key.length <= maxLength && /^[!#-[\]-~]*$/.test(key)) return key;
  throw new ApiError(
    Code.INVALID_ARGUMENT,
    `Invalid argument: ${idempotencyHeader}: must be one header with 1 to ${maxLength} visible characters of ASCII, without " and \\`,
    { reason: "IDEMPOTENCY_KEY_INVALID" },
  );
}

/** INVALID_ARGUMENT: the method takes no key. */
export function keyUnsupported({ path }: CalledMethod): ApiError {
  return new ApiError(
    Code.INVALID_ARGUMENT,
    `Invalid argument: ${idempotencyHeader}: ${path.slice(1)} takes no key: see which methods do at docs/clients.md`,
    { reason: "IDEMPOTENCY_KEY_UNSUPPORTED" },
  );
}
