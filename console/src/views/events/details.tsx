// One subscription: what waits, how the latest attempts ended, and how to receive its events.
import { durationMs, timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { SubscriptionsService } from "../../../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import {
  type DeliveryAttempt,
  DeliveryService,
  type DeliveryState,
} from "../../../../gen/gatehouse/events/v1/delivery_pb.ts";
import { DelegationKind, DelegationsService } from "../../../../gen/gatehouse/iam/v1/delegations_pb.ts";
import { may, missingFor, requiredBy, useMe } from "../../api/access.ts";
import { missingToConfirm } from "../../api/delegations.ts";
import { parentOf, shortUid } from "../../api/uids.ts";
import type { Column } from "../../shell/columns.ts";
import { useSaveNow } from "../../shell/form.tsx";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { Verdict } from "../../shell/look.tsx";
import { ActionButton, Ago, Code, CopyAs, Copyable, Loading } from "../../shell/parts.tsx";
import { Retry } from "../../shell/retry.tsx";
import { Denied, Failure } from "../../shell/states.tsx";
import { Table } from "../../shell/table.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useEventsAddress } from "./address.ts";
import { Pause, SendTest } from "./controls.tsx";
import { exampleEvent, receiverCode } from "./receiver.ts";
import { NextTry, refetchInterval, State, Waiting } from "./state.tsx";

const { deleteSubscription } = SubscriptionsService.method;
const { getDeliveryState, updateSubscriptionSettings } = DeliveryService.method;
const AttemptPanel = lazyPart(async () => (await import("./attempt.tsx")).AttemptPanel);
const { confirmDelegation } = DelegationsService.method;

/** The selected subscription. */
export function SubscriptionDetails({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { open, search, close } = useEventsAddress();
  const columns = useColumns();
  const mayGet = may(me, getDeliveryState, uid);
  const request = { subscriptionUid: uid };
  const { data: state, error, refetch } = useQuery(getDeliveryState, request, { enabled: mayGet, refetchInterval });
  if (me && !mayGet) return <Denied capabilities={requiredBy(getDeliveryState)} uid={uid} />;
  if (error && !state) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!state) return <Loading />;
  return (
    <section className="card stack" aria-labelledby="subscription-sink">
      <h2 id="subscription-sink">
        <bdi>{state.sink}</bdi>
      </h2>
      <div className="row">
        {state.waiting > 0 && state.settings?.paused !== true && <Retry uid={uid} />}
        <SendTest uid={uid} />
        <Pause state={state} />
        <ActionButton
          missing={missingFor(me, updateSubscriptionSettings, uid)}
          onClick={() => void open(uid, { dialog: "edit" })}
        >
          {t("events.edit")}
        </ActionButton>
        <ActionButton
          shortcut="Delete"
          missing={missingFor(me, deleteSubscription, uid)}
          onClick={() => void open(uid, { dialog: "delete" })}
        >
          {t("events.delete")}
        </ActionButton>
        <CopyAs method={getDeliveryState} request={request} />
      </div>
      {state.inactivity !== "" && <Inactive state={state} />}
      <Facts state={state} />
      <h3>{t("events.attempts")}</h3>
      <Table
        label={t("events.attempts")}
        list={{ rows: state.recentAttempts }}
        columns={columns}
        keyOf={({ startTime, eventId }) => `${startTime?.seconds} ${startTime?.nanos} ${eventId}`}
        empty={<p className="muted">{t("events.noAttempts")}</p>}
      />
      <Receiving uid={uid} />
      {search.attempt !== undefined && parentOf(search.attempt) === uid && (
        <AttemptPanel uid={search.attempt} onClose={() => void close()} />
      )}
    </section>
  );
}

/** Says why nothing is sent, and lets a caller who may subscribe take the subscription over. */
function Inactive({ state: { subscriptionUid: uid, inactivity } }: { readonly state: DeliveryState }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const confirm = useSaveNow(confirmDelegation);
  const missing = missingToConfirm(me, DelegationKind.SUBSCRIPTION, uid);
  return (
    <div className="notice warn">
      <p>{t("events.inactiveText", { reason: inactivity })}</p>
      <div>
        <ActionButton missing={missing} onClick={() => void confirm({ uid }, t("events.done.confirmed"))}>
          {t("events.confirm")}
        </ActionButton>
      </div>
    </div>
  );
}

function Facts({ state }: { readonly state: DeliveryState }) {
  const { t } = useTexts();
  const { waiting, waitingSince, nextAttemptTime, settings, droppedEvents } = state;
  return (
    <dl className="facts">
      <dt>{t("events.state")}</dt>
      <dd>
        <State state={state} />
      </dd>
      <dt>{t("events.waiting")}</dt>
      <dd>
        <Waiting count={waiting} />
      </dd>
      {waitingSince && (
        <>
          <dt>{t("events.oldest")}</dt>
          <dd>
            <Ago time={timestampDate(waitingSince)} />
          </dd>
        </>
      )}
      {droppedEvents > 0 && (
        <>
          <dt>{t("events.lost")}</dt>
          <dd>{t("events.waitingCount", { count: droppedEvents })}</dd>
        </>
      )}
      {settings?.kinds.length ? (
        <>
          <dt>{t("events.kinds")}</dt>
          <dd>{settings.kinds.join(", ")}</dd>
        </>
      ) : null}
      {settings?.description && (
        <>
          <dt>{t("events.description")}</dt>
          <dd>
            <bdi>{settings.description}</bdi>
          </dd>
        </>
      )}
      {nextAttemptTime && (
        <>
          <dt>{t("events.nextTry")}</dt>
          <dd>
            <NextTry time={nextAttemptTime} />
          </dd>
        </>
      )}
      <dt>{t("events.uid")}</dt>
      <dd>
        <Copyable value={state.subscriptionUid} shown={shortUid(state.subscriptionUid)} what={t("events.uid")} />
      </dd>
    </dl>
  );
}

function useColumns(): Column<DeliveryAttempt>[] {
  const { t } = useTexts();
  const { org, selected, search } = useEventsAddress();
  const kept = search.page === undefined ? {} : { page: search.page };
  return [
    { title: t("events.time"), cell: ({ startTime }) => startTime && <Ago time={timestampDate(startTime)} /> },
    {
      title: t("events.type"),
      cell: ({ uid, eventType, eventId }) => {
        const type = <code title={eventId}>{eventType.replace(/^dev\.chainguard\.(api\.)?/, "")}</code>;
        // Attempts of earlier releases have no uid, and no more to show.
        if (uid === "") return type;
        return (
          <Link to="/o/$org/events/$" params={{ org, _splat: selected }} search={{ ...kept, attempt: uid }}>
            {type}
          </Link>
        );
      },
    },
    {
      title: t("events.status"),
      cell: ({ failure, httpStatus, dropped }) => (
        <Verdict isGood={failure === ""}>
          {httpStatus === 0 ? t("events.noResponse") : httpStatus}
          {dropped && `, ${t("events.dropped")}`}
        </Verdict>
      ),
    },
    {
      title: t("events.duration"),
      cell: ({ duration }) => duration && t("events.millis", { count: durationMs(duration) }),
    },
    {
      title: t("events.response"),
      cell: ({ responseLine, failure }) =>
        responseLine === "" ? <span className="muted">{failure}</span> : <bdi>{responseLine}</bdi>,
    },
  ];
}

/** Shows the author of a receiver an example, and code that verifies the signature. */
function Receiving({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  return (
    <>
      <details>
        <summary>{t("events.example")}</summary>
        <Code what={t("events.example")} text={exampleEvent(location.origin, parentOf(uid))} />
      </details>
      <details>
        <summary>{t("events.receiver")}</summary>
        <div className="stack">
          <p className="muted">{t("events.receiverText")}</p>
          <Code what={t("events.receiver")} text={receiverCode(location.origin, parentOf(uid))} />
        </div>
      </details>
    </>
  );
}
