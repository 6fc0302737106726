import {
  AccessReviewItemSchema,
  AccessReviewSchema,
  AccessReviewsService,
} from "../../../../gen/gatehouse/access/v1/access_reviews_pb.ts";
import type { EventDefinition } from "../../../resource/event-definition.ts";
import { resourceEvents, toEventDefinition } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import { type SentenceForm, textOf, uidIn } from "../../../resource/sentence-form.ts";
import {
  accessReviewCollection,
  closingCause,
  endingCause,
  reviewItemKind,
} from "../../../storage/iam/reviews/collections.ts";
import { deletionEvent } from "../../iam/role-bindings/kind.ts";
import { absent, defineOtherKind, type Recorded } from "../../kinds/kind.ts";
import { itemMessage, reviewMessage } from "./messages.ts";
import { accessReviews } from "./reviews.ts";

const { createAccessReview } = AccessReviewsService.method;

const recordedReview = { collection: accessReviewCollection, schema: AccessReviewSchema, message: reviewMessage };

const reviewForm: SentenceForm = {
  verbs: ["started", "ended", "closed", "changed", "deleted"],
  verbOf({ before, after }) {
    if (!before) return "started";
    if (!after) return "deleted";
    return changedVerbs[String(after.state)] ?? "changed";
  },
  parts: { review: ({ uid, title }) => ({ uid: textOf(uid), name: textOf(title) }) },
};

const changedVerbs: Readonly<Record<string, string>> = {
  ACCESS_REVIEW_STATE_CLOSING: "ended",
  ACCESS_REVIEW_STATE_CLOSED: "closed",
};

const itemForm: SentenceForm = {
  verbs: ["confirmed", "revoked", "missed"],
  verbOf: ({ after }) => decidedVerbs[String(after?.decision)] ?? "missed",
  parts: { identity: uidIn("identityUid"), role: uidIn("roleUid"), place: uidIn("groupUid") },
};

const decidedVerbs: Readonly<Record<string, string>> = {
  ACCESS_REVIEW_DECISION_CONFIRMED: "confirmed",
  ACCESS_REVIEW_DECISION_REVOKED: "revoked",
};

const recorded: Recorded = {
  views: [
    rowView(recordedReview, reviewMessage, reviewForm),
    rowView({ collection: { kind: reviewItemKind }, schema: AccessReviewItemSchema }, itemMessage, itemForm),
  ],
  events: () => resourceEvents([createAccessReview], recordedReview),
};

/** Returns the events of closing reviews, which no method causes: that of a review, and those of the role bindings that it ends. */
export function closingEvents(): EventDefinition[] {
  const created = toEventDefinition(resourceEvents([createAccessReview], recordedReview)[0]!);
  return [
    { ...created, cause: closingCause, type: "dev.gatehouse.access.review.closed.v1" },
    { ...toEventDefinition(deletionEvent), cause: endingCause },
  ];
}

/** Access reviews. */
export const accessReviewKind = defineOtherKind({
  name: "accessReview",
  schema: AccessReviewSchema,
  service: AccessReviewsService,
  collection: accessReviewCollection,
  implement: accessReviews,
  file: absent("People decide reviews."),
  transfer: absent("access reviews, whose role bindings and decisions belong to the installation"),
  recorded,
});
