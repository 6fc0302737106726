// The buttons of a subscription that send a test event, pause it and resume it.
import { useMutation } from "@connectrpc/connect-query";
import { DeliveryService, type DeliveryState } from "../../../../gen/gatehouse/events/v1/delivery_pb.ts";
import { missingFor, useMe } from "../../api/access.ts";
import { formErrors } from "../../api/field-errors.ts";
import { queryClient } from "../../api/transport.ts";
import { useSaveNow } from "../../shell/form.tsx";
import { ActionButton } from "../../shell/parts.tsx";
import { notify } from "../../shell/toast.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useEventsAddress } from "./address.ts";

const { sendTestEvent, updateSubscriptionSettings } = DeliveryService.method;

/** Sends a test event, and shows the attempt in the side panel. A silent host takes ten seconds. */
export function SendTest({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { open } = useEventsAddress();
  const { mutateAsync, isPending } = useMutation(sendTestEvent);
  const send = async () => {
    if (isPending) return;
    try {
      const attempt = await mutateAsync({ subscriptionUid: uid });
      await queryClient.invalidateQueries();
      await open(uid, { attempt: attempt.uid });
    } catch (error) {
      notify(formErrors(t, error, []).others.join(" "));
    }
  };
  return (
    <ActionButton missing={missingFor(me, sendTestEvent, uid)} onClick={() => void send()}>
      {t(isPending ? "events.testing" : "events.test")}
    </ActionButton>
  );
}

/** Pauses a subscription, or resumes it. */
export function Pause({ state: { subscriptionUid: uid, settings } }: { readonly state: DeliveryState }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const save = useSaveNow(updateSubscriptionSettings);
  const paused = settings?.paused !== true;
  return (
    <ActionButton
      missing={missingFor(me, updateSubscriptionSettings, uid)}
      onClick={() =>
        void save(
          { settings: { uid, paused }, updateMask: { paths: ["paused"] } },
          t(paused ? "events.done.paused" : "events.done.resumed"),
        )
      }
    >
      {t(paused ? "events.pause" : "events.resume")}
    </ActionButton>
  );
}
