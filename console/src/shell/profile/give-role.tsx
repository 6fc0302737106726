// The action of the page of a person or workload: to give it a role.
import { RoleBindingsService } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { missingFor, outermostWith, useMe } from "../../api/access.ts";
import { useTexts } from "../../texts/texts.ts";
import { useBindingAddress } from "../binding-address.ts";
import { lazyPart } from "../lazy-part.tsx";
import { ActionButton } from "../parts.tsx";

const BindingDialogs = lazyPart(async () => (await import("../binding-dialogs.tsx")).BindingDialogs);

const { createRoleBinding } = RoleBindingsService.method;

interface GiveRoleProps {
  readonly identity: string;
  /** The group in and below which roles have an effect: the role is offered at the outermost one where the caller may give it. */
  readonly within: string;
}

/** The button, and the dialog of a role that is in the address. */
export function GiveRole({ identity, within }: GiveRoleProps) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { openDialog, dialog } = useBindingAddress();
  const [place = within] = outermostWith(me, createRoleBinding, within);
  return (
    <>
      <ActionButton
        variant="filled"
        shortcut="n"
        missing={missingFor(me, createRoleBinding, place)}
        onClick={() => void openDialog("grant")}
      >
        {t("profile.giveRole")}
      </ActionButton>
      {dialog !== undefined && <BindingDialogs group={place} identity={identity} />}
    </>
  );
}
