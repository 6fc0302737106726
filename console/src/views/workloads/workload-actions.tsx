// What can be done with a workload: a menu, and the dialog that is in the address.
import { IdentitiesService, type Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { AccessService } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { may, missingFor, useMe } from "../../api/access.ts";
import { ActionMenu, type MenuAction } from "../../shell/action-menu.tsx";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useWorkloadsAddress } from "./address.ts";
import { isEditable } from "./claims-draft.ts";
import { typeOf } from "./identity-facts.ts";

const EditClaims = lazyPart(async () => (await import("./claims-form.tsx")).EditClaims);
const TryToken = lazyPart(async () => (await import("./try-token.tsx")).TryToken);
const EditIdentity = lazyPart(async () => (await import("./workload-dialogs.tsx")).EditIdentity);
const DeleteIdentity = lazyPart(async () => (await import("./workload-dialogs.tsx")).DeleteIdentity);

const { updateIdentity, deleteIdentity } = IdentitiesService.method;
const { explainExchange } = AccessService.method;

/** The menu, and the open dialog. */
export function WorkloadActions({ identity }: { readonly identity: Identity }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { search, change, close } = useWorkloadsAddress();
  const { uid } = identity;
  // A service of the platform takes no token from outside.
  const isTried = typeOf(identity) !== "servicePrincipal";
  const actions: MenuAction[] = [
    {
      text: t("identities.edit"),
      missing: missingFor(me, updateIdentity, uid),
      shortcut: "e",
      onClick: () => void change({ dialog: "edit" }),
    },
    ...(isEditable(identity)
      ? [
          {
            text: t("claims.open"),
            missing: missingFor(me, updateIdentity, uid),
            onClick: () => void change({ dialog: "claims" }),
          },
        ]
      : []),
    ...(isTried
      ? [
          {
            text: t("try.title"),
            missing: missingFor(me, explainExchange, uid),
            onClick: () => void change({ dialog: "try" }),
          },
        ]
      : []),
    {
      text: t("identities.delete"),
      missing: missingFor(me, deleteIdentity, uid),
      shortcut: "Delete",
      isDangerous: true,
      onClick: () => void change({ dialog: "delete" }),
    },
  ];
  const [mayEdit, mayDelete] = [may(me, updateIdentity, uid), may(me, deleteIdentity, uid)];
  return (
    <>
      <ActionMenu label={t("profile.more")} actions={actions} />
      {search.dialog === "try" && isTried && may(me, explainExchange, uid) && (
        <TryToken identity={identity} onClose={() => void close()} />
      )}
      {search.dialog === "edit" && mayEdit && <EditIdentity identity={identity} onClose={() => void close()} />}
      {search.dialog === "claims" && mayEdit && isEditable(identity) && (
        <EditClaims identity={identity} onClose={() => void close()} />
      )}
      {search.dialog === "delete" && mayDelete && <DeleteIdentity identity={identity} />}
    </>
  );
}
