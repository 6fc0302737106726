// The organization in the address.
import { create } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { useParams } from "@tanstack/react-router";
import { UIDPFilterSchema } from "../../../gen/chainguard/platform/common/uidp_pb.ts";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { may, organizationsOf, useMe, usePending } from "../api/access.ts";
import { isUid, shortUid } from "../api/uids.ts";

/** An organization in the switcher. */
export interface Organization {
  readonly uid: string;
  readonly name: string;
}

/** Returns the organizations that the caller may see or holds something in, by name. */
export function useOrganizations(): readonly Organization[] | undefined {
  const { data: me } = useMe();
  const pending = usePending() ?? [];
  const mayList = may(me, GroupsService.method.listGroups);
  const { data, isError } = useQuery(
    GroupsService.method.listGroups,
    { uidp: create(UIDPFilterSchema, { inRoot: true }), orderBy: "name", pageSize: 200 },
    { enabled: mayList },
  );
  if (!me || (mayList && !data && !isError)) return undefined;
  const isJoined = ({ uid }: { readonly uid: string }) => !pending.some(({ organization }) => organization === uid);
  const visible = (data?.groups ?? []).filter(isJoined).map(({ uid, name }) => ({ uid, name }));
  const others = organizationsOf(me).filter((uid) => !visible.some((one) => one.uid === uid));
  return [...visible, ...others.map((uid) => ({ uid, name: nameIn(me.capabilities, uid) }))];
}

function nameIn(
  held: readonly { readonly group?: { readonly id: string; readonly name: string } | undefined }[],
  uid: string,
) {
  return held.find(({ group }) => group?.id === uid)?.group?.name ?? shortUid(uid);
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
  const inAddress = useOrganizationUid();
  const uid = other ?? inAddress;
  return useOrganization(uid)?.name ?? shortUid(uid);
}
