// Faults: calls of a tenant that fail in ways that a test chooses. They are around the pipeline, which does not know of them.

import { setTimeout as sleep } from "node:timers/promises";
import type { Message } from "@bufbuild/protobuf";
import { resourceExhausted, unavailable } from "../../aip/errors.ts";
import { accessRuleOf } from "../../authz/rules.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import { rootOf } from "../../model/uid.ts";
import type { Call } from "../../pipeline/call.ts";
import type { Method } from "../../pipeline/method.ts";
import { emulatorLimits } from "./limits.ts";

/** The effects of faults, from before the call is executed to after it was. */
export const faultEffects = ["delay", "unavailable_before", "unavailable_after", "drop_after"] as const;

/** A fault that waits for calls. */
export interface Fault {
  /** The path of a method, or `*` for all. */
  readonly path: string;
  readonly effect: (typeof faultEffects)[number];
  /** How long a call is delayed, in milliseconds. */
  readonly delayMs: number;
  /** How many more calls it applies to. */
  times: number;
}

/** The name of the response header with the effect of the fault that the call met. */
export const faultHeader = "gatehouse-fault";

/** The faults that wait for calls, by the uid of the organization. */
export class Faults {
  readonly #waiting = new Map<string, Fault[]>();

  /** Returns the faults of an organization, in the order in which they were added. */
  of(groupUid: string): readonly Fault[] {
    return this.#waiting.get(groupUid) ?? [];
  }

  add(groupUid: string, fault: Fault): void {
    const known = this.of(groupUid);
    if (known.length >= emulatorLimits.faults)
      throw resourceExhausted(`at most ${emulatorLimits.faults} faults of a tenant wait at once`);
    this.#waiting.set(groupUid, [...known, fault]);
  }

  clear(groupUid: string): void {
    this.#waiting.delete(groupUid);
  }

  /** Returns the first fault of one of the organizations that applies to a method, and counts the call. */
  meet(groupUids: readonly string[], path: string): Fault | undefined {
    for (const groupUid of groupUids) {
      const found = this.of(groupUid).find((fault) => fault.path === "*" || fault.path === path);
      if (!found) continue;
      found.times--;
      const left = this.of(groupUid).filter(({ times }) => times > 0);
      if (left.length > 0) this.#waiting.set(groupUid, left);
      else this.clear(groupUid);
      return found;
    }
    return undefined;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }
}

/** Returns a function that makes of a method one whose calls meet the faults of the organization that they belong to. */
export function withFaults(faults: Faults): (method: Method) => Method {
  return (method) => {
    const { path, descriptor, errorDomain, rules } = method;
    const call: Method["call"] = (call, decode) =>
      faults.isEmpty ? method.call(call, decode) : callWithFaults(method, faults, call, decode);
    return { path, descriptor, errorDomain, rules, call };
  };
}

async function callWithFaults(
  method: Method,
  faults: Faults,
  call: Call,
  decode: () => MaybePromise<Message>,
): Promise<Message> {
  let met: Fault | undefined;
  // The pipeline decodes a request once it knows the caller, and before it does anything else.
  const decodeAndMeet = async () => {
    const request = await decode();
    met = faults.meet(organizationsOf(method, call, request), method.path);
    if (met) await before(met, call);
    return request;
  };
  const work = async () => await method.call(call, decodeAndMeet);
  // A call that fails by itself meets the fault as well: its client does not learn of either result.
  const [outcome] = await Promise.allSettled([work()]);
  if (met) after(met, call);
  if (outcome.status === "rejected") throw outcome.reason;
  return outcome.value;
}

/** Returns the organizations that a call may belong to: that of the caller, else that of the group or identity which it names. */
function organizationsOf({ descriptor }: Method, { caller }: Call, request: Message): readonly string[] {
  const rule = accessRuleOf(descriptor);
  const scope = rule?.type === "scoped" ? rule.scopeOf(request) : undefined;
  // A person belongs to no organization, and a token exchange has no caller yet.
  const { parent, identity } = request as { parent?: unknown; identity?: unknown };
  return [caller?.uid, scope, parent, identity].filter((uid) => typeof uid === "string").map(rootOf);
}

async function before({ effect, delayMs }: Fault, call: Call): Promise<void> {
  call.setResponseHeader(faultHeader, effect);
  // A client that does not wait for it ends the delay.
  if (effect === "delay") await sleep(delayMs, undefined, call.signal && { signal: call.signal }).catch(() => {});
  if (effect === "unavailable_before") throw unavailable("a fault of the emulator: the call was not executed");
}

function after({ effect }: Fault, { connection }: Call): void {
  if (effect === "unavailable_after") throw unavailable("a fault of the emulator: the call was executed");
  if (effect === "drop_after") (connection as { destroy?(): void } | undefined)?.destroy?.();
}
