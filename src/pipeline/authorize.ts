import type { Message } from "@bufbuild/protobuf";
import { clip } from "../aip/clip.ts";
import { type ApiError, permissionDenied, unauthenticated } from "../aip/errors.ts";
import type { Caller } from "../authn/caller.ts";
import type { Access, Scope } from "../authz/access.ts";
import type { AccessRule } from "../authz/rules.ts";
import { capabilityNames, capabilitySet } from "../model/capabilities.ts";
import type { Call, CalledMethod } from "./call.ts";

/**
 * Applies the rule of the method. AIP-211: permission comes before existence; the check reads nothing but grants and the
 * uid, so that it cannot tell whether the resource is there.
 */
export function authorize(call: Call, rule: AccessRule, request: Message): void {
  if (rule.type === "open") return;
  const access = accessOf(call);
  if (rule.type === "scoped") {
    const uid = rule.scopeOf(request);
    for (const capability of rule.capabilities) {
      if (!access.has(capability, uid)) throw denied(rule.capabilities, uid);
    }
  } else if (rule.capabilities.length > 0) {
    const scope = access.scope(rule.capabilities);
    if (scope.length === 0) throw denied(rule.capabilities, parentOf(request));
    call.scope = scope;
  }
}

/** Throws unless the caller holds the capability at the uid: for what an annotation cannot say. */
export function requireCapability(call: Call, capability: number, uid: string): void {
  if (!accessOf(call).has(capability, uid)) throw denied([capability], uid);
}

/** What the caller may do; every method but the open ones has it. */
export function accessOf(call: Call): Access {
  if (!call.access) throw unauthenticated("a bearer token is required");
  return call.access;
}

/** Who is calling; every method but the open ones has it. */
export function callerOf(call: Call): Caller {
  if (!call.caller) throw unauthenticated("a bearer token is required");
  return call.caller;
}

/** Whether the caller's token was narrowed. What belongs to no group, such as an account, lies beyond it (security case X6). */
export function isNarrowed(call: Call): boolean {
  const { scopes, capabilities } = callerOf(call).token.narrowing;
  return scopes !== undefined || capabilities !== undefined;
}

/** The method that is called. */
export function methodOf(call: Call): CalledMethod {
  if (!call.method) throw new Error("the call did not come through the pipeline");
  return call.method;
}

/** The subtrees that an unscoped method may show. Fails closed: without a decision there is no list. */
export function scopeOf(call: Call): Scope {
  if (!call.scope) throw permissionDenied("the method has no scope");
  return call.scope;
}

/** The parent that the request names, for a denial; empty where it names none. */
function parentOf(request: Message): string {
  return "parent" in request && typeof request.parent === "string" ? clip(request.parent) : "";
}

function denied(capabilities: readonly number[], uid: string): ApiError {
  const names = capabilityNames(capabilitySet(capabilities)).join(", ");
  const where = uid === "" ? "anywhere" : `at ${uid}`;
  return permissionDenied(`the caller does not have the required capabilities: ${names} ${where}`, {
    capability: names,
    ...(uid === "" ? {} : { scope: uid }),
  });
}
