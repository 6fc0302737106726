// "Does everybody get what they subscribed to?"
import { Link } from "@tanstack/react-router";
import { SubscriptionsService } from "../../../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import { DeliveryService, type DeliveryState } from "../../../../gen/gatehouse/events/v1/delivery_pb.ts";
import { may, missingFor, requiredBy, useMe } from "../../api/access.ts";
import { useNamed } from "../../api/naming.ts";
import { parentOf } from "../../api/uids.ts";
import { ActivityChart } from "../../shell/activity-chart.tsx";
import type { Column } from "../../shell/columns.ts";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { List } from "../../shell/list.tsx";
import { PageHead } from "../../shell/look.tsx";
import { usePagedList } from "../../shell/paged-list.ts";
import { ActionButton, Code, CopyAs, Loading } from "../../shell/parts.tsx";
import { Retry } from "../../shell/retry.tsx";
import { Denied } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useEventsAddress } from "./address.ts";
import { SubscriptionDetails } from "./details.tsx";
import { NextTry, refetchInterval, State, Waiting } from "./state.tsx";

const { createSubscription, deleteSubscription } = SubscriptionsService.method;
const { listDeliveryStates } = DeliveryService.method;
const DeleteSubscriptions = lazyPart(async () => (await import("./bulk.tsx")).DeleteSubscriptions, null, "bulk");
const EventsDialogs = lazyPart(async () => (await import("./dialogs.tsx")).EventsDialogs);

/** The subscriptions with the state of their queues, and the selected one. */
export function Events() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, selected, search, change } = useEventsAddress();
  const missing = missingFor(me, createSubscription, org);
  const mayList = may(me, listDeliveryStates);
  const list = usePagedList({
    method: listDeliveryStates,
    request: { uidp: { descendantsOf: org } },
    rowsOf: ({ deliveryStates }) => deliveryStates,
    order: "name",
    isEnabled: mayList,
    refetchInterval,
    address: search,
    onAddress: change,
  });
  const columns = useColumns(list.rows ?? []);
  if (!me) return <Loading />;
  return (
    <>
      <PageHead title={t("nav.events")}>
        <CopyAs method={listDeliveryStates} request={list.request} />
        <ActionButton variant="filled" shortcut="n" missing={missing} onClick={() => void change({ dialog: "new" })}>
          {t("events.new")}
        </ActionButton>
      </PageHead>
      {!mayList && <Denied capabilities={requiredBy(listDeliveryStates)} uid={org} />}
      {mayList && (
        <div className="stack">
          <p className="muted">{t("events.lead")}</p>
          <List
            id="webhooks"
            label={t("events.list")}
            list={list}
            columns={columns}
            keyOf={({ subscriptionUid }) => subscriptionUid}
            actions={[
              {
                text: t("events.deleteButton"),
                method: deleteSubscription,
                placeOf: ({ subscriptionUid }) => subscriptionUid,
                Dialog: DeleteSubscriptions,
              },
            ]}
            selected={selected}
            empty={<Empty org={org} />}
          />
          {selected === "" ? (
            <ActivityChart group={org} chart="sent" />
          ) : (
            <SubscriptionDetails key={selected} uid={selected} />
          )}
        </div>
      )}
      {search.dialog !== undefined && <EventsDialogs />}
    </>
  );
}

function Empty({ org }: { readonly org: string }) {
  const { t } = useTexts();
  return (
    <div className="notice">
      <h2>{t("events.none")}</h2>
      <p>{t("events.noneText")}</p>
      <Code
        what={t("events.command")}
        text={`gatehouse events subscriptions create https://hooks.example.org/gatehouse --parent ${org}`}
      />
    </div>
  );
}

function useColumns(states: readonly DeliveryState[]): Column<DeliveryState>[] {
  const { t } = useTexts();
  const { org, search } = useEventsAddress();
  const named = useNamed(states.map(({ subscriptionUid }) => parentOf(subscriptionUid)));
  const { page, order } = search;
  const kept = { ...(page !== undefined && { page }), ...(order !== undefined && { order }) };
  return [
    {
      title: t("events.sink"),
      text: ({ sink }) => sink,
      sort: "name",
      cell: ({ subscriptionUid, sink }) => (
        <Link to="/o/$org/events/$" params={{ org, _splat: subscriptionUid }} search={kept}>
          <bdi>{sink.replace(/^https:\/\//, "")}</bdi>
        </Link>
      ),
    },
    {
      id: "group",
      title: t("events.group"),
      cell: ({ subscriptionUid }) => <bdi>{named(parentOf(subscriptionUid))}</bdi>,
    },
    { id: "state", title: t("events.state"), cell: (state) => <State state={state} /> },
    { id: "waiting", title: t("events.waiting"), cell: ({ waiting }) => <Waiting count={waiting} />, isWide: true },
    {
      id: "nextTry",
      title: t("events.nextTry"),
      cell: ({ subscriptionUid, nextAttemptTime, stopped }) =>
        nextAttemptTime || stopped ? (
          <span className="row">
            {nextAttemptTime && <NextTry time={nextAttemptTime} />}
            <Retry uid={subscriptionUid} />
          </span>
        ) : (
          "–"
        ),
    },
  ];
}
