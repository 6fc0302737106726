import type { RoleBinding } from "../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { groupText, identityText } from "../api/naming.ts";
import type { Texts } from "../texts/texts.ts";

/** Returns what the title of a dialog about a role binding names: the role, who holds it, and where. */
export function bindingNames(t: Texts, { role, identity, group }: RoleBinding) {
  return {
    role: role?.name ?? t("names.hidden"),
    who: identityText(t, identity),
    group: groupText(t, group?.name),
  };
}
