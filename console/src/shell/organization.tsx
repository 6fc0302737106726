// The organization in the address.
import { create } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { Outlet, useParams } from "@tanstack/react-router";
import { UIDPFilterSchema } from "../../../gen/chainguard/platform/common/uidp_pb.ts";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { may, organizationsOf, useMe } from "../api/access.ts";
import { shortUid } from "../api/uids.ts";
import { useTexts } from "../texts/texts.ts";
import { Heading } from "./parts.tsx";
import { Failure } from "./states.tsx";

/** An organization in the switcher. */
export interface Organization {
  readonly uid: string;
  readonly name: string;
}

/** Returns the organizations that the caller may see or holds something in, by name. */
export function useOrganizations(): readonly Organization[] | undefined {
  const { data: me } = useMe();
  const mayList = may(me, GroupsService.method.listGroups);
  const { data, isError } = useQuery(
    GroupsService.method.listGroups,
    { uidp: create(UIDPFilterSchema, { inRoot: true }), orderBy: "name", pageSize: 200 },
    { enabled: mayList },
  );
  if (!me || (mayList && !data && !isError)) return undefined;
  const visible = (data?.groups ?? []).map(({ uid, name }) => ({ uid, name }));
  const others = organizationsOf(me).filter((uid) => !visible.some((one) => one.uid === uid));
  return [...visible, ...others.map((uid) => ({ uid, name: nameIn(me.capabilities, uid) }))];
}

function nameIn(
  held: readonly { readonly group?: { readonly id: string; readonly name: string } | undefined }[],
  uid: string,
) {
  return held.find(({ group }) => group?.id === uid)?.group?.name ?? shortUid(uid);
}

/** Returns the uid of the organization in the address; empty without one. */
export function useOrganizationUid(): string {
  return useParams({ strict: false }).org ?? "";
}

/** Returns the name of the organization in the address. */
export function useOrganizationName(): string {
  const uid = useOrganizationUid();
  return useOrganizations()?.find((one) => one.uid === uid)?.name ?? shortUid(uid);
}

/** The views of an organization. */
export function OrganizationLayout() {
  const { t } = useTexts();
  const organizations = useOrganizations();
  const uid = useOrganizationUid();
  const { error } = useMe();
  if (error && !organizations) return <Failure error={error} />;
  if (organizations && !organizations.some((one) => one.uid === uid))
    return (
      <div className="stack">
        <Heading>{t("state.notFound.title")}</Heading>
        <p className="notice warn">{t("state.notFound")}</p>
      </div>
    );
  return <Outlet />;
}
