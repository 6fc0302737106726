import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { RoleBindingsService } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { groupText } from "../../api/naming.ts";
import { useTexts } from "../../texts/texts.ts";
import { useWorkloadsAddress } from "./address.ts";

const { listRoleBindings } = RoleBindingsService.method;

/** How many role bindings are shown. */
const shownBindings = 20;

interface HeldRolesProps {
  readonly uid: string;
  /** The heading above the list. */
  readonly children?: ReactNode;
}

/** The roles of an identity in the organization, with the groups where it has them. Nothing if the caller may not list them. */
export function HeldRoles({ uid, children }: HeldRolesProps) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org } = useWorkloadsAddress();
  const request = { identity: uid, uidp: { descendantsOf: org }, pageSize: shownBindings };
  const { data } = useQuery(listRoleBindings, request, { enabled: may(me, listRoleBindings, org) });
  if (!data) return null;
  const left = Number(data.totalCount ?? 0) - data.roleBindings.length;
  const list = (
    <ul className="list dense">
      {data.roleBindings.map(({ uid: binding, role, group }) => (
        <li key={binding}>
          <Link to="/o/$org/access" params={{ org }} search={{ group: group?.uid ?? org, identity: uid }}>
            <bdi>{t("identities.heldRole", { role: role?.name ?? "…", group: groupText(t, group?.name) })}</bdi>
          </Link>
        </li>
      ))}
      {data.roleBindings.length === 0 && <li className="muted">{t("identities.noRoles")}</li>}
      {left > 0 && <li className="muted">{t("identities.moreRoles", { count: left })}</li>}
    </ul>
  );
  return (
    <>
      {children}
      {list}
    </>
  );
}
