// Actions on several workloads.
import { IdentitiesService } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import type { BulkProps } from "../../shell/bulk.ts";
import { BulkDialog } from "../../shell/bulk-dialog.tsx";
import { GiveRole, TakeRoles } from "../../shell/bulk-roles.tsx";
import { useCall } from "../../shell/use-call.ts";
import { useTexts } from "../../texts/texts.ts";
import { useWorkloadsAddress } from "./address.ts";
import type { Workload } from "./identity-facts.ts";

/** The dialog that deletes workloads. */
export function DeleteWorkloads(props: BulkProps<Workload>) {
  const { t } = useTexts();
  const call = useCall(IdentitiesService.method.deleteIdentity);
  return (
    <BulkDialog
      {...props}
      isDeletion
      title={(count) => t("bulk.workloads.title", { count })}
      text={t("bulk.workloads.text")}
      button={t("bulk.workloads.button")}
      act={({ identity: { uid } }) => call({ uid })}
    />
  );
}

/** The dialog that gives workloads a role. */
export function GiveWorkloadsRole(props: BulkProps<Workload>) {
  const { org } = useWorkloadsAddress();
  return <GiveRole {...props} within={org} identityOf={({ identity: { uid } }) => uid} />;
}

/** The dialog that takes roles from workloads. */
export function TakeWorkloadsRoles(props: BulkProps<Workload>) {
  const { org } = useWorkloadsAddress();
  return <TakeRoles {...props} within={org} identityOf={({ identity: { uid } }) => uid} />;
}
