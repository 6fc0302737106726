// With several processes on one SQLite file, one of them executes the writes of all: docs/decisions/0066.
import { type DescMethodUnary, getOption, hasOption, type Message } from "@bufbuild/protobuf";
import { http } from "../../gen/google/api/annotations_pb.ts";
import type { AccessRule } from "../authz/rules.ts";
import { capabilityNames, capabilitySet } from "../model/capabilities.ts";
import type { Call, CalledMethod } from "./call.ts";

/**
 * Forwards a call to the process that writes, with a valid request of an authenticated caller. Returns undefined if this process has to
 * execute it. The response is that of the method, and errors are complete.
 */
export type ForwardCall = (method: CalledMethod, request: Message, call: Call) => Promise<Message> | undefined;

/**
 * Whether the calls of a method write, as far as its descriptor says. A wrong verdict changes how fast a call is, never what it does.
 */
export function isWrite(descriptor: DescMethodUnary, rule: AccessRule): boolean {
  // Forwarded calls have an authenticated caller.
  if (rule.type === "open") return false;
  if (hasOption(descriptor, http) && getOption(descriptor, http).pattern.case === "get") return false;
  const names = capabilityNames(capabilitySet(rule.capabilities));
  return names.length === 0 || names.some((name) => !name.endsWith(".list"));
}
