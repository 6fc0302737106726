import type { Narrowing } from "../../authn/caller.ts";
import { findCapabilityByName, hasCapability } from "../../model/capabilities.ts";
import type { TextRule } from "../../pipeline/text-rules.ts";

/** The rule of a field with the name of a capability. */
export const capabilityRule: TextRule = {
  test: (text) => findCapabilityByName(text) !== undefined,
  description: "must be the name of a capability, such as groups.list",
};

/** Returns the uids of the roles that have a capability. */
export function rolesWith(
  name: string,
  roles: readonly { readonly uid: string; readonly capabilities: readonly number[] }[],
): string[] {
  const number = findCapabilityByName(name)?.number ?? 0;
  return [...new Set(roles.filter(({ capabilities }) => capabilities.includes(number)).map(({ uid }) => uid))];
}

/** Whether the caller's token was narrowed to other capabilities. It must then not reveal whether its identity holds this one. */
export function isBeyondToken(name: string, { capabilities }: Narrowing): boolean {
  const number = findCapabilityByName(name)?.number;
  return capabilities !== undefined && number !== undefined && !hasCapability(capabilities, number);
}
