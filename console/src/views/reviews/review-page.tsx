// The page of a review: how far it is, and its role bindings.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import {
  type AccessReview,
  AccessReviewHolders,
  AccessReviewOnDue,
  AccessReviewState,
  AccessReviewsService,
} from "../../../../gen/gatehouse/access/v1/access_reviews_pb.ts";
import { may, missingFor, useMe } from "../../api/access.ts";
import { dayMs } from "../../api/durations.ts";
import { useNamed } from "../../api/naming.ts";
import { useResolved } from "../../api/resources.ts";
import { GroupPath } from "../../shell/group-path.tsx";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { PageHead } from "../../shell/look.tsx";
import { ActionButton } from "../../shell/parts.tsx";
import { UnreadPage } from "../../shell/states.tsx";
import { agoText, dayText, lengthText, timeText, useTexts } from "../../texts/texts.ts";
import { useReviewAddress } from "./address.ts";
import { ReviewItems } from "./items.tsx";
import { StatePill } from "./pills.tsx";

const { closeAccessReview, getAccessReview } = AccessReviewsService.method;
const CloseReview = lazyPart(async () => (await import("./close-review.tsx")).CloseReview);

/** How often a review that closes is read again, in milliseconds: its counts are not in the log of changes. */
const closingPollMs = 2_000;

/** The page. */
export function ReviewPage({ uid }: { readonly uid: string }) {
  const { data: me } = useMe();
  const mayGet = may(me, getAccessReview, uid);
  const { data, error, refetch } = useQuery(
    getAccessReview,
    { uid },
    {
      enabled: mayGet,
      refetchInterval: ({ state }) => (state.data?.state === AccessReviewState.CLOSING ? closingPollMs : false),
    },
  );
  if (data) return <Page review={data} />;
  return <UnreadPage method={getAccessReview} uid={uid} error={error} onRetry={() => void refetch()} />;
}

function Page({ review }: { readonly review: AccessReview }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, search, change } = useReviewAddress();
  const names = useResolved([review.groupUid]);
  const isOpen = review.state === AccessReviewState.OPEN;
  return (
    <>
      <PageHead
        path={
          <Link to="/o/$org/reviews/$" params={{ org, _splat: "" }}>
            {t("reviews.title")}
          </Link>
        }
        title={<bdi>{review.title}</bdi>}
        beside={<StatePill state={review.state} />}
        detail={<GroupPath uid={review.groupUid} names={names} />}
      >
        {isOpen && (
          <ActionButton
            missing={missingFor(me, closeAccessReview, review.uid)}
            onClick={() => void change({ dialog: "close" })}
          >
            {t("reviews.close")}
          </ActionButton>
        )}
      </PageHead>
      <div className="stack">
        <Progress review={review} />
        <Selection review={review} />
        <ReviewItems review={review} />
      </div>
      {search.dialog === "close" && isOpen && may(me, closeAccessReview, review.uid) && <CloseReview review={review} />}
    </>
  );
}

/** Says in sentences how far the review is, and what happens when it closes. */
function Progress({ review }: { readonly review: AccessReview }) {
  const { t, locale } = useTexts();
  const { state, onDue, itemCount, pendingCount, confirmedCount, revokedCount, recordedSinceTime } = review;
  const [due, closed] = [review.dueTime, review.closeTime].map((time) => time && timestampDate(time));
  const ends = onDue === AccessReviewOnDue.END_UNCONFIRMED;
  return (
    <div className="lines">
      <p>
        {t("reviews.counts", {
          decided: itemCount - pendingCount,
          all: itemCount,
          confirmed: confirmedCount,
          revoked: revokedCount,
        })}
      </p>
      {state === AccessReviewState.OPEN && due && (
        <p title={timeText(due, locale)}>
          {t(ends ? "reviews.endsAt" : "reviews.reportsAt", { time: agoText(due, locale) })}
        </p>
      )}
      {state === AccessReviewState.CLOSED && closed && (
        <p title={timeText(closed, locale)}>{t("reviews.closedAt", { time: agoText(closed, locale) })}</p>
      )}
      {review.keptUnconfirmed && <p className="notice warn">{t("reviews.keptUnconfirmed")}</p>}
      <p className="muted small">
        {recordedSinceTime
          ? t("reviews.recordedSince", { day: dayText(timestampDate(recordedSinceTime), locale) })
          : t("reviews.notRecorded")}
      </p>
    </div>
  );
}

/** Says who decides, and which role bindings the review has. */
function Selection({ review }: { readonly review: AccessReview }) {
  const { t, locale } = useTexts();
  const { reviewerIdentityUids: reviewers, roleUids, holders, unusedDays } = review;
  const named = useNamed([...reviewers, ...roleUids]);
  const listed = new Intl.ListFormat(locale);
  const namesOf = (uids: readonly string[]) => listed.format(uids.map(named));
  const parts = [
    reviewers.length > 0 ? t("reviews.decide", { who: namesOf(reviewers) }) : t("reviews.allDecide"),
    roleUids.length > 0 && t("reviews.onlyRoles", { roles: namesOf(roleUids) }),
    holders === AccessReviewHolders.PEOPLE && t("reviews.onlyPeople"),
    holders === AccessReviewHolders.WORKLOADS && t("reviews.onlyWorkloads"),
    unusedDays > 0 && t("reviews.onlyUnused", { length: lengthText(unusedDays * dayMs, locale) }),
  ];
  return <div className="lines muted">{parts.map((text) => text && <p key={text}>{text}</p>)}</div>;
}
