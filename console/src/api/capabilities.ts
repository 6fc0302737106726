// The capabilities: their areas, and which of them this server uses. Views that use this load the texts `capabilities`.
import { getOption } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { type Capability, CapabilitySchema, name } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { AccessService } from "../../../gen/gatehouse/access/v1/access_pb.ts";
import { isTextId, type TextId, useTexts } from "../texts/texts.ts";

/** The areas, in the order in which views show them, with the beginnings of the names of their capabilities. */
const prefixes = {
  groups: ["groups.", "group_invites."],
  identities: ["identity.", "identity_providers.", "account_associations."],
  roles: ["roles."],
  bindings: ["role_bindings."],
  registry: ["repo.", "manifest.", "tag.", "referrers.", "version.", "registry.deployments."],
  advisories: ["advisories."],
  events: ["subscriptions."],
} as const;

/** An area of capabilities. */
export type Area = keyof typeof prefixes | "other";

/** The areas with columns of their own. */
export const areas = Object.keys(prefixes) as Exclude<Area, "other">[];

/** A capability. */
export interface NamedCapability {
  readonly number: Capability;
  readonly name: string;
  readonly area: Area;
  /** The sentence that says what it allows; undefined if no method of this server asks for it. */
  readonly text: TextId | undefined;
}

let known: readonly NamedCapability[] | undefined;

/** Returns all capabilities that are not deprecated, in the order of their numbers. Those that nobody can grant are missing. */
export function allCapabilities(): readonly NamedCapability[] {
  // Read once, when the texts are there: each cell of a matrix asks, and the options of an enum are decoded each time.
  known ??= CapabilitySchema.values.flatMap((value) => {
    const text = getOption(value, name);
    return text === "" || text === "internal" || value.deprecated ? [] : [named(value.number as Capability, text)];
  });
  return known;
}

function named(number: Capability, capability: string): NamedCapability {
  const text = `capability.${capability}`;
  const area = areas.find((one) => prefixes[one].some((prefix) => capability.startsWith(prefix))) ?? "other";
  return { number, name: capability, area, text: isTextId(text) ? text : undefined };
}

/** Returns the capabilities of an area that this server uses. */
export function capabilitiesOf(area: Area): readonly NamedCapability[] {
  return allCapabilities().filter((one) => one.area === area && one.text !== undefined);
}

/** The most capabilities that one list has. */
const listed = 200;

/**
 * Returns the function that says what a capability allows. The words for those that this server does not use are the server's, and not
 * translated.
 */
export function useCapabilityText(): (capability: NamedCapability) => string {
  const { t } = useTexts();
  const { listCapabilities } = AccessService.method;
  const { data: first } = useQuery(listCapabilities, { pageSize: listed }, { staleTime: Infinity });
  const hasMore = Number(first?.totalCount ?? 0) > listed;
  const rest = { pageSize: listed, skip: listed };
  const { data: second } = useQuery(listCapabilities, rest, { staleTime: Infinity, enabled: hasMore });
  const all = [...(first?.capabilities ?? []), ...(second?.capabilities ?? [])];
  const descriptions = new Map(all.map(({ name: of, description }) => [of, description]));
  return ({ name: of, text }) => (text ? t(text) : t("capability.unused", { text: descriptions.get(of) ?? of }));
}

/** How much of an area an identity holds. */
export type Level = "all" | "some" | "read" | "none";

/** Returns how much of an area is held, given the names of the capabilities that are. */
export function levelOf(area: Area, held: ReadonlySet<string>): Level {
  const names = capabilitiesOf(area).map((one) => one.name);
  const found = names.filter((one) => held.has(one));
  if (found.length === 0) return "none";
  if (found.length === names.length) return "all";
  return found.every((one) => /\.(list|get)$/.test(one)) ? "read" : "some";
}
