// A role binding in a list: its role, its place, and what can be done with it.

import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { RoleBindingsService } from "../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import type { BindingExplanation } from "../../../gen/gatehouse/access/v1/access_pb.ts";
import { may, useMe } from "../api/access.ts";
import { groupText } from "../api/naming.ts";
import { useTexts } from "../texts/texts.ts";
import { useBindingAddress } from "./binding-address.ts";
import { Icon } from "./icon.tsx";
import { Menu, MenuItem, MenuLink } from "./menu.tsx";
import { TermPill } from "./term-pill.tsx";

const { updateRoleBinding, deleteRoleBinding } = RoleBindingsService.method;

/**
 * Shows a binding as seen from a group: "viewer at engineering ↑". The menu opens its role and its group, and changes it. Without a
 * place, the list says where it is. A pill says when it begins or ends.
 */
export function BindingLine(props: BindingLineProps) {
  const { startTime, expireTime } = props.binding;
  if (!startTime && !expireTime) return <BindingMenu {...props} />;
  return (
    <span className="row tight">
      <BindingMenu {...props} />
      <TermPill startTime={startTime} expireTime={expireTime} />
    </span>
  );
}

interface BindingLineProps {
  readonly binding: BindingExplanation;
  readonly at: string | undefined;
}

function BindingMenu({ binding, at }: BindingLineProps) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, openDialog } = useBindingAddress();
  const { roleBindingUid, roleUid, roleName, groupUid, groupName } = binding;
  const group = groupText(t, groupName);
  const text = textAt(roleName || "…", group);
  // Its end, too: UpdateRoleBindingTerm requires the same capability.
  const mayChange = roleBindingUid !== "" && may(me, updateRoleBinding, groupUid);
  const mayRevoke = roleBindingUid !== "" && may(me, deleteRoleBinding, groupUid);
  const mayOpenGroup = may(me, GroupsService.method.getGroup, groupUid);
  if (roleName === "" && !mayOpenGroup && !mayChange && !mayRevoke) return <bdi>{text}</bdi>;
  return (
    <Menu
      align="start"
      button={(props) => (
        <button {...props} type="button" className="link">
          <bdi>{text}</bdi> <Icon name="chevron-down" />
        </button>
      )}
    >
      {roleName !== "" && (
        <MenuLink to="/o/$org/roles/$" params={{ org, _splat: roleUid }}>
          {t("access.openRole", { role: roleName })}
        </MenuLink>
      )}
      {mayOpenGroup && (
        <MenuLink to="/o/$org/groups/$" params={{ org, _splat: groupUid }}>
          {t("access.openGroup", { group })}
        </MenuLink>
      )}
      {mayChange && <MenuItem onClick={() => void openDialog("change", roleBindingUid)}>{t("access.change")}</MenuItem>}
      {mayChange && (
        <MenuItem onClick={() => void openDialog("end", roleBindingUid)}>
          {t(binding.expireTime ? "access.changeEnd" : "access.setEnd")}
        </MenuItem>
      )}
      {mayRevoke && <MenuItem onClick={() => void openDialog("revoke", roleBindingUid)}>{t("access.revoke")}</MenuItem>}
    </Menu>
  );

  function textAt(role: string, place: string): string {
    if (at === undefined) return role;
    const where = groupUid === at ? t("access.hereWord") : t("access.inherited", { group: place });
    return `${role} ${where}`;
  }
}
