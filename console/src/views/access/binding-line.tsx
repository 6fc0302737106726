// A role binding in a list: role, place, and what can be done with it.
import { Menu, UnstyledButton } from "@mantine/core";
import { RoleBindingsService } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import type { BindingExplanation } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { shortUid } from "../../api/uids.ts";
import { useTexts } from "../../texts/texts.ts";
import { useAccessAddress } from "./address.ts";

const { updateRoleBinding, deleteRoleBinding } = RoleBindingsService.method;

/** Shows a binding as seen from a group: "viewer at engineering ↑". */
export function BindingLine({ binding, at }: { readonly binding: BindingExplanation; readonly at: string }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { set } = useAccessAddress();
  const { roleBindingUid, roleName, groupUid, groupName } = binding;
  const place =
    groupUid === at ? t("access.hereWord") : t("access.inherited", { group: groupName || shortUid(groupUid) });
  const text = `${roleName || "…"} ${place}`;
  const mayChange = roleBindingUid !== "" && may(me, updateRoleBinding, groupUid);
  const mayRevoke = roleBindingUid !== "" && may(me, deleteRoleBinding, groupUid);
  if (!mayChange && !mayRevoke) return <span>{text}</span>;
  return (
    <Menu withinPortal={false} withInitialFocusPlaceholder={false} position="bottom-end">
      <Menu.Target>
        <UnstyledButton className="link">{text} ▾</UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {mayChange && (
          <Menu.Item onClick={() => void set({ dialog: "change", binding: roleBindingUid })}>
            {t("access.change")}
          </Menu.Item>
        )}
        {mayRevoke && (
          <Menu.Item onClick={() => void set({ dialog: "revoke", binding: roleBindingUid })}>
            {t("access.revoke")}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
