// Actions on several subscriptions.
import { SubscriptionsService } from "../../../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import type { DeliveryState } from "../../../../gen/gatehouse/events/v1/delivery_pb.ts";
import type { BulkProps } from "../../shell/bulk.ts";
import { BulkDialog } from "../../shell/bulk-dialog.tsx";
import { useCall } from "../../shell/use-call.ts";
import { useTexts } from "../../texts/texts.ts";

/** The dialog that deletes subscriptions. */
export function DeleteSubscriptions(props: BulkProps<DeliveryState>) {
  const { t } = useTexts();
  const call = useCall(SubscriptionsService.method.deleteSubscription);
  return (
    <BulkDialog
      {...props}
      isDeletion
      title={(count) => t("bulk.subscriptions.title", { count })}
      text={t("bulk.subscriptions.text")}
      button={t("bulk.subscriptions.button")}
      act={({ subscriptionUid: uid }) => call({ uid })}
    />
  );
}
