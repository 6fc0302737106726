// The organization in the address.
import { create } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { useParams } from "@tanstack/react-router";
import { UIDPFilterSchema } from "../../../gen/chainguard/platform/common/uidp_pb.ts";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { MembershipsService } from "../../../gen/gatehouse/iam/v1/memberships_pb.ts";
import { may, organizationsOf, useMe, usePending } from "../api/access.ts";
import { isUid, shortUid } from "../api/uids.ts";
import { useTexts } from "../texts/texts.ts";

const { listMemberships } = MembershipsService.method;

/** An organization in the switcher. */
export interface Organization {
  readonly uid: string;
  readonly name: string;
}

/** Returns the organizations that the caller may see or holds something in, by name. */
export function useOrganizations(): readonly Organization[] | undefined {
  const { t } = useTexts();
  const { data: me } = useMe();
  const pending = usePending() ?? [];
  const mayList = may(me, GroupsService.method.listGroups);
  const { data, isError } = useQuery(
    GroupsService.method.listGroups,
    { uidp: create(UIDPFilterSchema, { inRoot: true }), orderBy: "name", pageSize: 200 },
    { enabled: mayList },
  );
  const visibleUids = data?.groups.map(({ uid }) => uid) ?? [];
  const others = organizationsOf(me).filter((uid) => !visibleUids.includes(uid));
  // Who holds roles in subgroups only knows the organization by its name all the same.
  const isRead = !mayList || data !== undefined || isError;
  const isAsked = isRead && others.length > 0 && me?.subject.includes("/") === false;
  const { data: memberships } = useQuery(listMemberships, { pageSize: 200 }, { enabled: isAsked });
  if (!me || !isRead) return undefined;
  const isJoined = ({ uid }: { readonly uid: string }) => !pending.some(({ organization }) => organization === uid);
  const visible = (data?.groups ?? []).filter(isJoined).map(({ uid, name }) => ({ uid, name }));
  return [...visible, ...others.map((uid) => ({ uid, name: nameOf(uid) || t("names.organization") }))];

  function nameOf(uid: string): string | undefined {
    const held = me?.capabilities.find(({ group }) => group?.id === uid)?.group?.name;
    return held || memberships?.memberships.find(({ organization }) => organization === uid)?.name;
  }
}

/** Returns the function that tells an organization from others of its name: its short uid, or nothing where the name is its own. */
export function namesakeMark(organizations: readonly Organization[]): (one: Organization) => string {
  const counts = Map.groupBy(organizations, ({ name }) => name);
  return ({ uid, name }) => ((counts.get(name)?.length ?? 0) > 1 ? shortUid(uid) : "");
}

/**
 * Returns an organization by its uid; null if the caller may not see it, and undefined while it is read. It need not be
 * among the first ones of `useOrganizations`.
 */
export function useOrganization(uid: string): Organization | null | undefined {
  const { data: me } = useMe();
  const organizations = useOrganizations();
  const known = organizations?.find((one) => one.uid === uid);
  const isAsked = organizations !== undefined && !known && may(me, GroupsService.method.listGroups);
  const { data, isError } = useQuery(
    GroupsService.method.listGroups,
    { uidp: create(UIDPFilterSchema, { ids: [uid] }), pageSize: 1 },
    { enabled: isAsked && isUid(uid) },
  );
  if (known || !organizations) return known;
  if (isAsked && isUid(uid) && !data && !isError) return undefined;
  const [group] = data?.groups ?? [];
  return group ? { uid, name: group.name } : null;
}

/** Returns the uid of the organization in the address; empty without one. */
export function useOrganizationUid(): string {
  return useParams({ strict: false }).org ?? "";
}

/** Returns the name of an organization; of the one in the address if absent. */
export function useOrganizationName(other?: string): string {
  const { t } = useTexts();
  const inAddress = useOrganizationUid();
  const uid = other ?? inAddress;
  const found = useOrganization(uid);
  return found?.name ?? (found === null ? t("names.organization") : "…");
}
