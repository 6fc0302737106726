// If-Match: a call that changes a resource only if it is still as the client has read it (RFC 9110 §13.1.1, AIP-154).
import { ApiError, Code } from "../aip/errors.ts";
import type { Precondition } from "../storage/engine/session.ts";
import type { Call, CalledMethod } from "./call.ts";

/** A condition, and whether the transaction has checked it. */
export interface CheckedPrecondition extends Precondition {
  readonly isChecked: boolean;
}

/** Returns the condition on the resource with this uid that If-Match sets; undefined without the header. */
export function preconditionOf(call: Pick<Call, "header">, uid: string): CheckedPrecondition | undefined {
  const header = call.header("if-match");
  if (header === undefined) return undefined;
  const tags = header.split(",").map((tag) => tag.trim());
  let isChecked = false;
  return {
    uid,
    get isChecked() {
      return isChecked;
    },
    check(tag) {
      isChecked = true;
      // RFC 9110 §8.8.3.2: the comparison is strong, so W/"…" equals nothing.
      if (header.trim() !== "*" && !tags.includes(tag)) throw mismatch();
    },
  };
}

/** INVALID_ARGUMENT: the method checks no entity tag. */
export function preconditionUnsupported({ path }: CalledMethod): ApiError {
  return new ApiError(
    Code.INVALID_ARGUMENT,
    `Invalid argument: if-match: ${path.slice(1)} does not change the resource that its request names; nothing was changed`,
    { reason: "PRECONDITION_UNSUPPORTED" },
  );
}

function mismatch(): ApiError {
  return new ApiError(
    Code.ABORTED,
    "Aborted: the resource is not as you have read it any more; read it again, and repeat the change",
    { reason: "ETAG_MISMATCH" },
  );
}
