// "May I?": decided in one place from the access rules in the descriptors and from what the caller holds.
import { create, type DescMethodUnary, getOption, hasOption } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { useMemo } from "react";
import { iam } from "../../../gen/chainguard/annotations/auth_pb.ts";
import { CapabilitySchema, name as capabilityName } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { Auth, type WhoAmI } from "../../../gen/chainguard/platform/auth/v1/auth_pb.ts";
import { MembershipsService, type PendingOrganization } from "../../../gen/gatehouse/iam/v1/memberships_pb.ts";
import { queryClient } from "./transport.ts";

/**
 * Returns who the caller is and what the caller holds in organizations that they have joined. In others no call may name a place: the server
 * denies it, because another site can open an address here (docs/design/access.md).
 */
export function useMe() {
  const me = useQuery(Auth.method.validate, create(EmptySchema), { staleTime: 60_000 });
  const pending = usePending();
  const data = useMemo(() => me.data && pending && withoutPending(me.data, pending), [me.data, pending]);
  return { ...me, data };
}

/** How long the views take to show less, in milliseconds. */
const settlingMs = 50;

/**
 * Reads again what the caller may do, after that has changed, and waits until the views know it. Other data is read again after that: before,
 * some of the calls would be denied.
 */
export async function refreshMe(): Promise<void> {
  await queryClient.invalidateQueries({
    predicate: ({ queryKey: [, about] }) =>
      ((about ?? {}) as { readonly serviceName?: string }).serviceName === Auth.typeName,
  });
  await new Promise((resolve) => setTimeout(resolve, settlingMs));
}

/** Returns the organizations that gave the caller a role and wait for a decision; undefined while they are read. */
export function usePending(): readonly PendingOrganization[] | undefined {
  const { data, isError } = useQuery(
    MembershipsService.method.listPendingOrganizations,
    { pageSize: 200 },
    { staleTime: 60_000 },
  );
  return data?.organizations ?? (isError ? none : undefined);
}

const none: readonly PendingOrganization[] = [];

function withoutPending(me: WhoAmI, pending: readonly PendingOrganization[]): WhoAmI {
  const isJoined = (uid: string) => !pending.some(({ organization }) => isAtOrAbove(organization, uid));
  return { ...me, capabilities: me.capabilities.filter(({ group }) => isJoined(group?.id ?? "")) };
}

/** Returns the names of the capabilities that a method requires. */
export function requiredBy(method: DescMethodUnary): readonly string[] {
  if (!hasOption(method, iam)) return [];
  const { mode } = getOption(method, iam);
  if (mode.case !== "enabled") return [];
  return mode.value.capabilities.flatMap((number) => {
    const value = CapabilitySchema.value[number];
    return value ? [getOption(value, capabilityName)] : [];
  });
}

/** Returns the capabilities that the caller lacks for a method at a group; at any group without `uid`. */
export function missingFor(me: WhoAmI | undefined, method: DescMethodUnary, uid?: string): readonly string[] {
  const held = new Set<string>();
  for (const { group, capabilities } of me?.capabilities ?? [])
    if (uid === undefined || isAtOrAbove(group?.id ?? "", uid)) for (const one of capabilities) held.add(one);
  return requiredBy(method).filter((one) => !held.has(one));
}

/** Whether the caller may call a method at a group; anywhere without `uid`. */
export function may(me: WhoAmI | undefined, method: DescMethodUnary, uid?: string): boolean {
  return me !== undefined && missingFor(me, method, uid).length === 0;
}

/** Whether the caller holds a capability at a group. */
export function holdsAt(me: WhoAmI | undefined, capability: string, uid: string): boolean {
  return (me?.capabilities ?? []).some(
    ({ group, capabilities }) => capabilities.includes(capability) && isAtOrAbove(group?.id ?? "", uid),
  );
}

/** Whether the caller holds a capability at a group, above it, or anywhere in it. */
export function holds(me: WhoAmI | undefined, capability: string, within: string): boolean {
  return (me?.capabilities ?? []).some(({ group, capabilities }) => {
    const at = group?.id ?? "";
    return capabilities.includes(capability) && (isAtOrAbove(at, within) || isAtOrAbove(within, at));
  });
}

/** A caller with one of these sees a part of the audit log, as the server decides for each kind (docs/design/audit-and-events.md). */
export const auditCapabilities = [
  "subscriptions.create",
  "groups.list",
  "identity.list",
  "roles.list",
  "role_bindings.list",
  "group_invites.list",
  "identity_providers.list",
  "account_associations.list",
  "subscriptions.list",
  "repo.list",
  "tag.list",
  "advisories.list",
] as const;

/** Whether the caller may see any change in an organization. */
export function mayReadChanges(me: WhoAmI | undefined, organization: string): boolean {
  return auditCapabilities.some((capability) => holds(me, capability, organization));
}

/** Whether `uid` is the group, or in it. */
export function isAtOrAbove(groupUid: string, uid: string): boolean {
  return groupUid !== "" && (uid === groupUid || uid.startsWith(`${groupUid}/`));
}

/** Returns the groups at which the caller may call a method, without those inside of others. */
export function outermostWith(me: WhoAmI | undefined, method: DescMethodUnary, within: string): readonly string[] {
  const held = (me?.capabilities ?? []).map(({ group }) => group?.id ?? "");
  const groups = [...new Set(held)].filter((uid) => may(me, method, uid));
  const inside = groups.some((uid) => isAtOrAbove(uid, within))
    ? [within]
    : groups.filter((uid) => isAtOrAbove(within, uid));
  return inside.filter((uid) => !inside.some((other) => other !== uid && isAtOrAbove(other, uid)));
}

/** Returns the uids of the organizations in which the caller holds something. */
export function organizationsOf(me: WhoAmI | undefined): readonly string[] {
  return [...new Set((me?.capabilities ?? []).map(({ group }) => (group?.id ?? "").split("/")[0]!))].filter(
    (uid) => uid !== "",
  );
}

/** Whether the caller operates the installation: the capability counts at an organization only. */
export function isOperator(me: WhoAmI | undefined): boolean {
  return (me?.capabilities ?? []).some(
    ({ group, capabilities }) => capabilities.includes("internal") && !(group?.id ?? "/").includes("/"),
  );
}
