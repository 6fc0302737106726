// The dialogs that create and delete subscriptions.
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { SubscriptionsService } from "../../../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import { DeliveryService, type DeliveryState } from "../../../../gen/gatehouse/events/v1/delivery_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { useDraft, useUnstored } from "../../shell/draft.ts";
import { type FieldOf, TextField, TextFields } from "../../shell/fields.tsx";
import { Picker } from "../../shell/picker.tsx";
import { DeleteResourceDialog, SaveDialog } from "../../shell/resource-dialogs.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useEventsAddress } from "./address.ts";

const { createSubscription, deleteSubscription } = SubscriptionsService.method;
const { getDeliveryState, checkSink, updateSubscriptionSettings } = DeliveryService.method;

/** Shows the dialog that is in the address. */
export function EventsDialogs() {
  const { data: me } = useMe();
  const { org, selected, search } = useEventsAddress();
  const isDeletion = search.dialog === "delete" && selected !== "" && may(me, deleteSubscription, selected);
  const isEdit = search.dialog === "edit" && selected !== "" && may(me, updateSubscriptionSettings, selected);
  const request = { subscriptionUid: selected };
  const { data: state } = useQuery(getDeliveryState, request, {
    enabled: (isDeletion || isEdit) && may(me, getDeliveryState, selected),
  });
  if (search.dialog === "new" && may(me, createSubscription, org)) return <NewSubscription />;
  if (isDeletion && state) return <DeleteSubscription state={state} />;
  if (isEdit && state) return <EditSubscription state={state} />;
  return null;
}

/** Has the server check the URL first. What is wrong with its host can be overridden: it may be there later. */
function NewSubscription() {
  const { t } = useTexts();
  const { org, open, close } = useEventsAddress();
  const [parent, setParent] = useDraft("newSubscription.parent", org);
  // Some receivers have their secret in the URL.
  const [sink, setSink] = useUnstored("https://");
  const [problem, setProblem] = useState("");
  const { mutateAsync: check } = useMutation(checkSink);
  return (
    <SaveDialog
      title={t("events.new")}
      method={createSubscription}
      request={{ parent, subscription: { sink } }}
      fields={["sink", "parent"]}
      button={t(problem === "" ? "events.create" : "events.createAnyway")}
      report={t("events.done.created")}
      isDisabled={parent === ""}
      submit={async (send) => {
        const found = problem === "" ? (await check({ parent, sink })).problem : "";
        if (found === "") await send();
        else setProblem(found);
      }}
      onSaved={({ uid }) => open(uid, { page: undefined })}
      onClose={close}
    >
      {(errors) => (
        <>
          <TextField
            name="sink"
            type="url"
            label={t("events.sink")}
            description={t("events.sinkHelp")}
            value={sink}
            error={errors.sink}
            spellCheck={false}
            data-autofocus
            onChange={(value) => {
              setSink(value);
              setProblem("");
            }}
          />
          <Picker
            kind="group"
            name="parent"
            label={t("events.group")}
            description={t("events.groupHelp")}
            within={org}
            value={parent}
            error={errors.parent}
            onChange={setParent}
          />
          {problem !== "" && (
            <p className="notice warn" role="alert">
              {t("events.problem", { problem })}
            </p>
          )}
        </>
      )}
    </SaveDialog>
  );
}

function DeleteSubscription({ state: { subscriptionUid: uid, sink, waiting } }: { readonly state: DeliveryState }) {
  const { t } = useTexts();
  const { open, close } = useEventsAddress();
  return (
    <DeleteResourceDialog
      title={t("events.deleteTitle", { sink })}
      text={t("events.deleteText", { count: waiting })}
      button={t("events.deleteButton")}
      method={deleteSubscription}
      request={{ uid }}
      report={t("events.done.deleted")}
      onDeleted={() => open("")}
      onClose={close}
    />
  );
}

/** Sends the fields that differ only: what others have changed in the meantime stays. */
function EditSubscription({ state: { subscriptionUid: uid, sink, settings } }: { readonly state: DeliveryState }) {
  const { t } = useTexts();
  const { close } = useEventsAddress();
  const [before] = useState({
    sink,
    kinds: (settings?.kinds ?? []).join(", "),
    description: settings?.description ?? "",
  });
  const [values, setValues] = useUnstored(before);
  const paths = fields.map(({ name }) => name).filter((name) => values[name] !== before[name]);
  const kinds = values.kinds.split(/[\s,]+/).filter((kind) => kind !== "");
  return (
    <SaveDialog
      title={t("events.editTitle", { sink })}
      method={updateSubscriptionSettings}
      request={{ settings: { ...values, uid, kinds }, updateMask: { paths } }}
      fields={["sink", "kinds", "description"]}
      button={t("events.save")}
      report={t("events.done.saved")}
      isDisabled={paths.length === 0}
      onClose={close}
    >
      {(errors) => <TextFields fields={fields} values={values} errors={errors} onChange={setValues} />}
    </SaveDialog>
  );
}

const fields: readonly FieldOf<"sink" | "kinds" | "description">[] = [
  { name: "sink", text: "events.sink", help: "events.editSinkHelp" },
  { name: "kinds", text: "events.kinds", help: "events.kindsHelp" },
  { name: "description", text: "events.description" },
];
