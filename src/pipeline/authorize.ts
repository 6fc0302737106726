import type { Message } from "@bufbuild/protobuf";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { type ApiError, permissionDenied, unauthenticated } from "../aip/errors.ts";
import type { Caller } from "../authn/caller.ts";
import type { Access, Scope } from "../authz/access.ts";
import type { AccessRule } from "../authz/rules.ts";
import { clip } from "../base/clip.ts";
import { capabilityNames, capabilitySet } from "../model/capabilities.ts";
import { isWithin } from "../model/uid.ts";
import { type Call, type CalledMethod, callAs } from "./call.ts";

/**
 * Applies the access rule of the method. AIP-211: permission comes before existence. The check reads grants and the uid only, so a denial
 * says nothing about existence.
 */
export function authorize(call: Call, rule: AccessRule, request: Message): void {
  if (rule.type === "open") return;
  const access = accessOf(call);
  if (rule.type === "scoped") {
    const uid = rule.scopeOf(request);
    if (deletesBinding(rule) && uid !== "" && uid === call.ownBinding) return;
    if (!access.use(rule.capabilities, uid)) throw denied(rule.capabilities, uid);
  } else if (rule.capabilities.length > 0) {
    const scope = access.scope(rule.capabilities);
    if (scope.length === 0) throw denied(rule.capabilities, parentOf(request));
    const parent = parentOf(request);
    for (const root of scope)
      if (parent === "" || isWithin(root, parent) || isWithin(parent, root)) access.use(rule.capabilities, root);
    call.scope = scope;
  }
}

/** Whether a rule is that of the methods that delete a role binding. */
export function deletesBinding(rule: AccessRule): boolean {
  const [capability, second] = rule.type === "scoped" ? rule.capabilities : [];
  return capability === Capability.CAP_IAM_ROLE_BINDINGS_DELETE && second === undefined;
}

/** Throws unless the caller has the capability at the uid: for checks that an annotation cannot express. */
export function requireCapability(call: Call, capability: number, uid: string): void {
  if (!accessOf(call).use([capability], uid)) throw denied([capability], uid);
}

/** Returns the call for checks whose outcome is only shown: no use of access is recorded. */
export function previewOf(call: Call): Call {
  return { ...callAs(call, methodOf(call)), access: accessOf(call).unrecorded() };
}

/** Returns the access of the caller. Throws in a method that is open to all. */
export function accessOf(call: Call): Access {
  if (!call.access) throw unauthenticated("a bearer token is required");
  return call.access;
}

/** Returns the caller. Throws in a method that is open to all. */
export function callerOf(call: Call): Caller {
  if (!call.caller) throw unauthenticated("a bearer token is required");
  return call.caller;
}

/** Whether the caller's token is narrowed. It then has no access to anything outside groups, such as an account (security case X6). */
export function isNarrowed(call: Call): boolean {
  const { scopes, capabilities } = callerOf(call).token.narrowing;
  return scopes !== undefined || capabilities !== undefined;
}

/** Returns the method of a call. */
export function methodOf(call: Call): CalledMethod {
  if (!call.method) throw new Error("the call did not come through the pipeline");
  return call.method;
}

/** Returns the subtrees that an unscoped method may show. Throws if the call was not authorized. */
export function scopeOf(call: Call): Scope {
  if (!call.scope) throw permissionDenied("the method has no scope");
  return call.scope;
}

/** Returns the subtrees at and below a group in which the caller has a capability, in byte order. */
export function subtreesWithin(call: Call, capability: number, group: string): Scope {
  return accessOf(call)
    .scope([capability])
    .flatMap((root) => (isWithin(group, root) ? [group] : isWithin(root, group) ? [root] : []))
    .sort();
}

/** Returns the parent that the request names, for the text of a denial; empty if there is none. */
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
