import { permissionDenied } from "../aip/errors.ts";
import { isNarrowed, scopeOf } from "../pipeline/authorize.ts";
import type { Call } from "../pipeline/call.ts";

/**
 * Throws unless the caller is an operator of the whole installation. The methods here act on any organization, so the token must not be
 * limited to groups or capabilities. `what` completes the error, such as "import an organization".
 */
export function requireUnlimited(call: Call, what: string): void {
  if (isNarrowed(call)) throw permissionDenied(`a narrowed token cannot ${what}; use one that is not narrowed`);
  if (scopeOf(call).every((uid) => uid.includes("/")))
    throw permissionDenied(
      `the caller has the capability internal in subgroups only; to ${what}, it is needed at an organization`,
    );
}
