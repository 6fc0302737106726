// The list of access reviews.
import { create } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Link } from "@tanstack/react-router";
import { UIDPFilterSchema } from "../../../../gen/chainguard/platform/common/uidp_pb.ts";
import {
  type AccessReview,
  AccessReviewState,
  AccessReviewsService,
} from "../../../../gen/gatehouse/access/v1/access_reviews_pb.ts";
import { may, outermostWith, requiredBy, useMe } from "../../api/access.ts";
import { useResolved } from "../../api/resources.ts";
import { type Column, timeCell } from "../../shell/columns.ts";
import filterStyles from "../../shell/filters.module.css";
import { GroupPath } from "../../shell/group-path.tsx";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { List } from "../../shell/list.tsx";
import { Empty, PageHead } from "../../shell/look.tsx";
import { usePagedList } from "../../shell/paged-list.ts";
import { ActionButton, Ago, CopyAs, Loading } from "../../shell/parts.tsx";
import { Denied } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { stateFilters, useReviewAddress } from "./address.ts";
import { StatePill, stateText } from "./pills.tsx";

const { createAccessReview, listAccessReviews } = AccessReviewsService.method;
const NewReview = lazyPart(async () => (await import("./new-review.tsx")).NewReview);

const states = { open: AccessReviewState.OPEN, closed: AccessReviewState.CLOSED } as const;

/** The list, with the dialog that begins a review. */
export function ReviewList() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, search, change } = useReviewAddress();
  const mayList = may(me, listAccessReviews);
  const list = usePagedList({
    method: listAccessReviews,
    request: {
      uidp: create(UIDPFilterSchema, { descendantsOf: org }),
      state: search.state ? states[search.state] : AccessReviewState.UNSPECIFIED,
    },
    rowsOf: (response) => response.accessReviews,
    order: "create_time desc",
    isEnabled: mayList,
    hasWindow: false,
    address: search,
    onAddress: change,
  });
  const columns = useColumns(list.rows ?? []);
  if (!me) return <Loading />;
  // Members of some groups review these.
  const isAllowed = outermostWith(me, createAccessReview, org).length > 0;
  return (
    <>
      <PageHead title={t("reviews.title")}>
        <CopyAs method={listAccessReviews} request={list.request} />
        <ActionButton
          variant="filled"
          shortcut="n"
          missing={isAllowed ? [] : requiredBy(createAccessReview)}
          onClick={() => void change({ dialog: "new" })}
        >
          {t("reviews.new")}
        </ActionButton>
      </PageHead>
      <p className="muted">{t("reviews.lead")}</p>
      {!mayList && <Denied capabilities={requiredBy(listAccessReviews)} uid={org} />}
      {mayList && (
        <div className="stack">
          <div className={filterStyles.filters}>
            <StateFilter />
          </div>
          <List
            id="reviews"
            label={t("reviews.list")}
            list={list}
            columns={columns}
            keyOf={({ uid }) => uid}
            empty={<Empty>{t(search.state ? "list.noMatch" : "reviews.none")}</Empty>}
          />
        </div>
      )}
      {search.dialog === "new" && isAllowed && <NewReview />}
    </>
  );
}

function StateFilter() {
  const { t } = useTexts();
  const { search, change } = useReviewAddress();
  return (
    <fieldset className="choices">
      <legend className="hidden">{t("reviews.state")}</legend>
      {[undefined, ...stateFilters].map((state) => (
        <button
          key={state ?? ""}
          type="button"
          aria-pressed={search.state === state}
          onClick={() => void change({ state, page: undefined })}
        >
          {t(`reviews.filter.${state ?? "all"}`)}
        </button>
      ))}
    </fieldset>
  );
}

function useColumns(rows: readonly AccessReview[]): Column<AccessReview>[] {
  const { t } = useTexts();
  const { org } = useReviewAddress();
  const names = useResolved(rows.map(({ groupUid }) => groupUid));
  return [
    {
      title: t("reviews.name"),
      sort: "title",
      text: ({ title }) => title,
      cell: ({ uid, title }) => (
        <Link to="/o/$org/reviews/$" params={{ org, _splat: uid }}>
          <bdi>{title}</bdi>
        </Link>
      ),
    },
    {
      title: t("reviews.group"),
      text: ({ groupName, groupUid }) => groupName || groupUid,
      cell: ({ groupUid }) => <GroupPath uid={groupUid} names={names} />,
    },
    {
      title: t("reviews.state"),
      text: ({ state }) => stateText(t, state),
      cell: ({ state }) => <StatePill state={state} />,
    },
    {
      id: "decided",
      title: t("reviews.decided"),
      text: ({ itemCount, pendingCount }) => `${itemCount - pendingCount}/${itemCount}`,
      cell: ({ itemCount, pendingCount }) =>
        t("reviews.progress", { decided: itemCount - pendingCount, all: itemCount }),
    },
    {
      id: "due",
      title: t("reviews.due"),
      text: ({ dueTime }) => timeCell(dueTime),
      cell: ({ dueTime }) => dueTime && <Ago time={timestampDate(dueTime)} />,
    },
    {
      id: "created",
      title: t("reviews.created"),
      sort: "create_time desc",
      isWide: true,
      text: ({ createTime }) => timeCell(createTime),
      cell: ({ createTime }) => createTime && <Ago time={timestampDate(createTime)} />,
    },
  ];
}
