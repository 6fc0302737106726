import { DeliveryService } from "../../../gen/gatehouse/events/v1/delivery_pb.ts";
import { missingFor, useMe } from "../api/access.ts";
import { useTexts } from "../texts/texts.ts";
import { useSaveNow } from "./form.tsx";
import { ActionButton } from "./parts.tsx";

const { retryDelivery } = DeliveryService.method;

/** Retries at once, without waiting for the back-off. */
export function Retry({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const retry = useSaveNow(retryDelivery);
  return (
    <ActionButton
      missing={missingFor(me, retryDelivery, uid)}
      onClick={() => void retry({ subscriptionUid: uid }, t("events.done.retried"))}
    >
      {t("events.retry")}
    </ActionButton>
  );
}
