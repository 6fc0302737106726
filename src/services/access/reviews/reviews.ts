// Serves access reviews.
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type AccessReview,
  AccessReviewDecision,
  AccessReviewItemDecisionSchema,
  AccessReviewSchema,
  AccessReviewState,
  AccessReviewsService,
  CreateAccessReviewRequestSchema,
  DecideAccessReviewItemsRequestSchema,
  type ListAccessReviewItemsRequest,
  ListAccessReviewItemsRequestSchema,
  type ListAccessReviewItemsResponseSchema,
} from "../../../../gen/gatehouse/access/v1/access_reviews_pb.ts";
import { invalidField, notFound } from "../../../aip/errors.ts";
import { formatPageToken } from "../../../aip/page-token.ts";
import { effectivePageSize, effectiveSkip } from "../../../aip/pagination.ts";
import { newViolations } from "../../../aip/violations.ts";
import type { Call } from "../../../pipeline/call.ts";
import { expensive } from "../../../pipeline/expensive.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import { type MessageRules, uidRule } from "../../../pipeline/text-rules.ts";
import { queryDigest, readToken } from "../../../resource/bound-page-token.ts";
import { type MakeItems, rowsThatFit } from "../../../resource/list-page.ts";
import { readMethods } from "../../../resource/read-methods.ts";
import { commonOrders, defineReadableResource } from "../../../resource/resource.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { findRow, lockRow, updateRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { accessReviewCollection, vouchForReview } from "../../../storage/iam/reviews/collections.ts";
import { countItems, findItems, type ItemFilter } from "../../../storage/iam/reviews/items.ts";
import { stateCondition } from "../../../storage/iam/reviews/queries.ts";
import type { AccessReviewRow, ItemDecision } from "../../../storage/iam/reviews/rows.ts";
import { commentRule } from "../../iam/access-requests/rule-checks.ts";
import { decideItems, requireDistinct, requireOpen } from "./decisions.ts";
import { reviewMessage, type ShownReview, showItem, showReviews } from "./messages.ts";
import { createReview } from "./new-review.ts";
import { checkReview, reviewLimits, titleRule } from "./review-checks.ts";

/** Access reviews. */
const accessReview = defineReadableResource<typeof AccessReviewSchema, AccessReviewRow>({
  schema: AccessReviewSchema,
  plural: "accessReviews",
  collection: accessReviewCollection,
  orderable: { ...commonOrders, title: "name" },
  defaultOrder: { field: "createTime", descending: true },
  toMessage: reviewMessage,
});

const { maxReviewers, maxRoles, maxDecisions } = reviewLimits;

const rules: readonly MessageRules[] = [
  {
    schema: AccessReviewSchema,
    fields: { title: titleRule, reviewer_identity_uids: uidRule, role_uids: uidRule },
    bounds: { reviewer_identity_uids: { maxItems: maxReviewers }, role_uids: { maxItems: maxRoles } },
    check: (message, { now }) => checkReview(message as AccessReview, now),
  },
  { schema: CreateAccessReviewRequestSchema, fields: { parent: uidRule } },
  { schema: ListAccessReviewItemsRequestSchema, fields: { uid: uidRule, identity: uidRule } },
  {
    schema: DecideAccessReviewItemsRequestSchema,
    fields: { uid: uidRule },
    bounds: { decisions: { maxItems: maxDecisions } },
  },
  { schema: AccessReviewItemDecisionSchema, fields: { role_binding_uid: uidRule, comment: commentRule } },
];

/** Serves access reviews. */
export function accessReviews(context: ServiceContext): Implementation {
  const { database, clock } = context;
  const reading = readMethods(accessReview, context);

  /** Changes a review that is locked. */
  const change = <T>(uid: string, call: Call, body: (tx: Transaction, row: AccessReviewRow) => Promise<T>) =>
    database.write(writeContext(call, clock), async (tx) => {
      const row = await lockRow(tx, accessReviewCollection, uid);
      if (!row) throw notFound(accessReview.type, uid);
      return await body(tx, row);
    });

  return implement(
    AccessReviewsService,
    {
      createAccessReview: expensive(({ parent, accessReview: value }, call) =>
        createReview(
          context,
          { parent, value: value! },
          call,
          async (tx, row) => (await showReviews(tx, [row], call))[0]!,
        ),
      ),
      getAccessReview: ({ uid }, call) =>
        database.read(async (session) => (await showReviews(session, [await reading.find(session, uid)], call))[0]!),
      async listAccessReviews(request, call) {
        const state = stateNames[request.state];
        const condition = state && stateCondition(state, database.session.termTime());
        const makeItems: MakeItems<AccessReviewRow, ShownReview> = (session, rows) =>
          showReviews(session, rowsThatFit(session, rows), call);
        const { items, ...envelope } = await reading.page(request, call, {}, condition, makeItems);
        return { ...envelope, accessReviews: [...items] };
      },
      listAccessReviewItems: (request, call) => listItems(context, request, call),
      async decideAccessReviewItems({ uid, decisions }, call) {
        requireDistinct(decisions);
        return await change(uid, call, async (tx, row) => {
          const decided = await decideItems(tx, row, decisions, call);
          return { items: decided.map((item) => showItem(item, call)) };
        });
      },
      closeAccessReview: ({ uid }, call) =>
        change(uid, call, async (tx, row) => {
          requireOpen(tx, row);
          if (row.onDue === "END_UNCONFIRMED") await vouchForReview(tx, uid);
          const closing = await updateRow(tx, accessReviewCollection, row, { ...row, endTime: tx.termTime() });
          return (await showReviews(tx, [closing], call))[0]!;
        }),
    },
    rules,
  );
}

const stateNames: Readonly<Record<number, "OPEN" | "CLOSING" | "CLOSED">> = {
  [AccessReviewState.OPEN]: "OPEN",
  [AccessReviewState.CLOSING]: "CLOSING",
  [AccessReviewState.CLOSED]: "CLOSED",
};

async function listItems(
  context: ServiceContext,
  request: ListAccessReviewItemsRequest,
  call: Call,
): Promise<MessageInitShape<typeof ListAccessReviewItemsResponseSchema>> {
  const { database, clock, pageTokenKey } = context;
  const violations = newViolations();
  const [size, skip] = [effectivePageSize(request.pageSize, violations), effectiveSkip(request.skip, violations)];
  violations.throwIfAny();
  const query = queryDigest(call, request);
  const after = readToken(context, call, request.pageToken, query)?.uid ?? "";
  return await database.read(async (session) => {
    const review = await findRow(session, accessReviewCollection, request.uid);
    if (!review) throw notFound(accessReview.type, request.uid);
    const filter: ItemFilter = {
      reviewUid: review.uid,
      decision: decisionName(request.decision),
      identityUid: request.identity,
    };
    const found = await findItems(session, filter, { after, skip, limit: size + 1 });
    const shown = found.slice(0, size);
    const next = { issuedAt: clock(), query, order: "", value: "", uid: shown.at(-1)?.roleBindingUid ?? "" };
    return {
      items: shown.map((item) => showItem(item, call)),
      nextPageToken: found.length > size ? formatPageToken(pageTokenKey, next) : "",
      totalCount: BigInt(await countItems(session, filter)),
      skipped: skip,
    };
  });
}

function decisionName(decision: AccessReviewDecision): ItemDecision | "" {
  if (decision === AccessReviewDecision.UNSPECIFIED) return "";
  const [name] = Object.entries(AccessReviewDecision).find(([, value]) => value === decision) ?? [];
  if (name === undefined) throw invalidField("decision", "must be a decision about an item");
  return name as ItemDecision;
}
