import { DeliveryService } from "../../../../gen/gatehouse/events/v1/delivery_pb.ts";
import { missingFor, useMe } from "../../api/access.ts";
import { formErrors } from "../../api/field-errors.ts";
import { useSave } from "../../shell/form.tsx";
import { ActionButton } from "../../shell/parts.tsx";
import { notify } from "../../shell/toast.tsx";
import { useTexts } from "../../texts/texts.ts";

const { retryDelivery } = DeliveryService.method;

/** Retries at once, without waiting for the back-off. */
export function Retry({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const save = useSave(retryDelivery);
  const retry = async () => {
    try {
      await save({ subscriptionUid: uid }, { report: t("events.done.retried") });
    } catch (error) {
      notify(formErrors(error, []).others.join(" "));
    }
  };
  return (
    <ActionButton missing={missingFor(me, retryDelivery, uid)} onClick={() => void retry()}>
      {t("events.retry")}
    </ActionButton>
  );
}
