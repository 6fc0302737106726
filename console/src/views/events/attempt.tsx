// One attempt: why it failed, what was sent and what the sink answered. Its event can be sent again.
import { useQuery } from "@connectrpc/connect-query";
import {
  type AttemptDetails,
  type DeliveryAttempt,
  DeliveryFailure,
  DeliveryService,
  type HttpHeader,
  PayloadState,
  RedeliveryOutcome,
} from "../../../../gen/gatehouse/events/v1/delivery_pb.ts";
import { missingFor, useMe } from "../../api/access.ts";
import { formErrors } from "../../api/field-errors.ts";
import { parentOf } from "../../api/uids.ts";
import { useSave } from "../../shell/form.tsx";
import { Verdict } from "../../shell/look.tsx";
import { ActionButton, Code, CopyAs, Loading } from "../../shell/parts.tsx";
import { SidePanel } from "../../shell/side-panel.tsx";
import { Failure } from "../../shell/states.tsx";
import { notify } from "../../shell/toast.tsx";
import type { TextId } from "../../texts/catalogues.ts";
import { useTexts } from "../../texts/texts.ts";

const { getAttempt, redeliver } = DeliveryService.method;

/** The type of test events, which are not in the queue and cannot be sent again. */
const testEventType = "gatehouse.events.test.v1";

/** The panel with an attempt. */
export function AttemptPanel({ uid, onClose }: { readonly uid: string; readonly onClose: () => void }) {
  const { t } = useTexts();
  const request = { uid };
  const { data, error, refetch } = useQuery(getAttempt, request);
  return (
    <SidePanel title={t("events.attempt")} onClose={onClose}>
      <div className="stack">
        {error && <Failure error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Loading />}
        {data?.attempt && <Result attempt={data.attempt} />}
        {data?.attempt && (
          <div className="row">
            {data.attempt.eventType !== testEventType && <Redeliver attempt={data.attempt} />}
            <CopyAs method={getAttempt} request={request} />
          </div>
        )}
        {data && <Payload details={data} />}
      </div>
    </SidePanel>
  );
}

const reasons: Readonly<Partial<Record<DeliveryFailure, TextId>>> = {
  [DeliveryFailure.NO_PUBLIC_ADDRESS]: "events.reason.address",
  [DeliveryFailure.CONNECT]: "events.reason.connect",
  [DeliveryFailure.TLS]: "events.reason.tls",
  [DeliveryFailure.TIMEOUT]: "events.reason.timeout",
  [DeliveryFailure.STATUS]: "events.reason.status",
};

/** Says how an attempt ended, and what to do about it. */
function Result({ attempt: { eventType, failure, failureReason } }: { readonly attempt: DeliveryAttempt }) {
  const { t } = useTexts();
  const reason = reasons[failureReason];
  return (
    <div>
      <p>
        <code>{eventType}</code>
      </p>
      <p>
        <Verdict isGood={failure === ""}>{failure === "" ? t("events.delivered") : <bdi>{failure}</bdi>}</Verdict>
      </p>
      {reason && <p className="muted">{t(reason)}</p>}
    </div>
  );
}

const outcomes: Readonly<Partial<Record<RedeliveryOutcome, TextId>>> = {
  [RedeliveryOutcome.QUEUED]: "events.done.redelivered",
  [RedeliveryOutcome.WAITING]: "events.done.waiting",
};

function Redeliver({ attempt: { uid, eventId } }: { readonly attempt: DeliveryAttempt }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const save = useSave(redeliver);
  const subscriptionUid = parentOf(uid);
  const send = async () => {
    try {
      await save(
        { subscriptionUid, eventIds: [eventId] },
        { onSaved: ({ redeliveries: [one] }) => notify(t(outcomes[one?.outcome ?? 0] ?? "events.done.notStored")) },
      );
    } catch (error) {
      notify(formErrors(t, error, []).others.join(" "));
    }
  };
  return (
    <ActionButton missing={missingFor(me, redeliver, subscriptionUid)} onClick={() => void send()}>
      {t("events.redeliver")}
    </ActionButton>
  );
}

function Payload({ details }: { readonly details: AttemptDetails }) {
  const { t } = useTexts();
  if (details.payloadState === PayloadState.HIDDEN)
    return <p className="notice">{t("events.payloadHidden", { capability: details.missingCapability })}</p>;
  if (details.payloadState !== PayloadState.SHOWN) return <p className="muted">{t("events.payloadNotStored")}</p>;
  const hasResponse = details.responseHeaders.length > 0 || details.responseBody !== "";
  return (
    <>
      <h3>{t("events.request")}</h3>
      <Message
        what={t("events.request")}
        headers={details.requestHeaders}
        body={indented(details.requestBody)}
        isCut={details.requestBodyTruncated}
      />
      <h3>{t("events.answer")}</h3>
      {hasResponse ? (
        <Message
          what={t("events.answer")}
          headers={details.responseHeaders}
          body={details.responseBody}
          isCut={details.responseBodyTruncated}
        />
      ) : (
        <p className="muted">{t("events.noAnswer")}</p>
      )}
    </>
  );
}

interface MessageProps {
  readonly what: string;
  readonly headers: readonly HttpHeader[];
  readonly body: string;
  readonly isCut: boolean;
}

/** A request or response, as HTTP writes it. */
function Message({ what, headers, body, isCut }: MessageProps) {
  const lines = headers.map(({ name, value }) => `${name}: ${value}`);
  return <Code what={what} text={`${lines.join("\n")}\n\n${body}${isCut ? "…" : ""}`} />;
}

/** Returns JSON on several lines. A body that was cut off stays as it is. */
function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
