// The role bindings of a review, with the evidence of their last use and the decisions.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { RoleBindingsService } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import {
  type AccessReview,
  AccessReviewDecision,
  type AccessReviewItem,
  AccessReviewState,
  AccessReviewsService,
} from "../../../../gen/gatehouse/access/v1/access_reviews_pb.ts";
import { missingFor, useMe } from "../../api/access.ts";
import { identityText, useNamed } from "../../api/naming.ts";
import { useResolved } from "../../api/resources.ts";
import { ActionMenu } from "../../shell/action-menu.tsx";
import { type Column, timeCell } from "../../shell/columns.ts";
import filterStyles from "../../shell/filters.module.css";
import { GroupPath } from "../../shell/group-path.tsx";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { List } from "../../shell/list.tsx";
import { Empty } from "../../shell/look.tsx";
import { usePagedList } from "../../shell/paged-list.ts";
import { CopyAs } from "../../shell/parts.tsx";
import { ProfileLink } from "../../shell/profile-link.tsx";
import { RolePill } from "../../shell/role-pill.tsx";
import { dayText, type Texts, useTexts } from "../../texts/texts.ts";
import { decisionFilters, useReviewAddress } from "./address.ts";
import { holderOf } from "./holder.ts";
import { DecisionPill, decisionText } from "./pills.tsx";

const { listAccessReviewItems } = AccessReviewsService.method;
const { createRoleBinding, deleteRoleBinding } = RoleBindingsService.method;
const ConfirmItems = lazyPart(async () => (await import("./bulk.tsx")).ConfirmItems, null, "bulk");
const RevokeItems = lazyPart(async () => (await import("./bulk.tsx")).RevokeItems, null, "bulk");
const DecideItem = lazyPart(async () => (await import("./decide-item.tsx")).DecideItem);

const decisions = {
  pending: AccessReviewDecision.PENDING,
  confirmed: AccessReviewDecision.CONFIRMED,
  revoked: AccessReviewDecision.REVOKED,
} as const;

/** The list. While the review is open, its items can be decided: one, or those that are selected. */
export function ReviewItems({ review }: { readonly review: AccessReview }) {
  const { t } = useTexts();
  const { search, change } = useReviewAddress();
  const isOpen = review.state === AccessReviewState.OPEN;
  const list = usePagedList({
    method: listAccessReviewItems,
    request: {
      uid: review.uid,
      decision: search.decision ? decisions[search.decision] : AccessReviewDecision.UNSPECIFIED,
    },
    rowsOf: (response) => response.items,
    hasWindow: false,
    address: search,
    onAddress: ({ page }) => change({ page }),
  });
  const rows = list.rows ?? [];
  const columns = useColumns(rows, isOpen);
  const deciding = rows.find(({ roleBindingUid }) => roleBindingUid === search.item);
  const actions = [
    { text: t("reviews.confirm"), method: createRoleBinding, placeOf, Dialog: ConfirmItems },
    { text: t("reviews.revoke"), method: deleteRoleBinding, placeOf, Dialog: RevokeItems },
  ];
  return (
    <section className="stack" aria-label={t("reviews.items")}>
      <div className={filterStyles.filters}>
        <DecisionFilter />
        <div className="grow" />
        <CopyAs method={listAccessReviewItems} request={list.request} />
      </div>
      <List
        id="reviewItems"
        label={t("reviews.items")}
        list={list}
        columns={columns}
        keyOf={({ roleBindingUid }) => roleBindingUid}
        actions={isOpen ? actions : []}
        empty={<Empty>{t(search.decision ? "list.noMatch" : "reviews.noItems")}</Empty>}
      />
      {isOpen && deciding && (search.dialog === "confirm" || search.dialog === "revoke") && (
        <DecideItem review={review} item={deciding} isRevocation={search.dialog === "revoke"} />
      )}
    </section>
  );
}

function DecisionFilter() {
  const { t } = useTexts();
  const { search, change } = useReviewAddress();
  return (
    <fieldset className="choices">
      <legend className="hidden">{t("reviews.decision")}</legend>
      {[undefined, ...decisionFilters].map((decision) => (
        <button
          key={decision ?? ""}
          type="button"
          aria-pressed={search.decision === decision}
          onClick={() => void change({ decision, page: undefined })}
        >
          {t(`reviews.filter.${decision ?? "all"}`)}
        </button>
      ))}
    </fieldset>
  );
}

function placeOf({ groupUid }: AccessReviewItem): string {
  return groupUid;
}

function useColumns(rows: readonly AccessReviewItem[], isOpen: boolean): Column<AccessReviewItem>[] {
  const { t, locale } = useTexts();
  const names = useResolved(rows.map(placeOf));
  const nameOf = useNamed(rows.flatMap(({ reviewerUid }) => reviewerUid || []));
  return [
    {
      title: t("reviews.holder"),
      text: (item) => [identityText(t, holderOf(item)), item.roleName || "…"].join(" · "),
      cell: (item) => <ProfileLink identity={holderOf(item)} />,
    },
    { title: t("reviews.role"), text: ({ roleName }) => roleName, cell: (item) => <RolePill binding={item} /> },
    {
      title: t("reviews.group"),
      text: ({ groupName }) => groupName,
      cell: ({ groupUid }) => <GroupPath uid={groupUid} names={names} />,
    },
    {
      id: "lastUse",
      title: t("reviews.lastUse"),
      text: ({ lastUseTime }) => timeCell(lastUseTime),
      cell: (item) => (
        <div className="lines">
          <span>
            {item.lastUseTime ? dayText(timestampDate(item.lastUseTime), locale) : <i>{t("reviews.never")}</i>}
          </span>
          <span className="muted small">{evidenceOf(t, item, locale)}</span>
        </div>
      ),
    },
    {
      id: "decision",
      title: t("reviews.decision"),
      text: ({ decision }) => decisionText(t, decision),
      cell: ({ decision, reviewerUid, comment }) => (
        <div className="lines">
          <DecisionPill decision={decision} />
          {reviewerUid !== "" && <span className="muted small">{t("reviews.by", { who: nameOf(reviewerUid) })}</span>}
          {comment !== "" && <bdi className="muted small">{comment}</bdi>}
        </div>
      ),
    },
    ...(isOpen
      ? [{ title: t("reviews.actions"), isAction: true, cell: (row: AccessReviewItem) => <Actions item={row} /> }]
      : []),
  ];
}

/** Says how much of the role was used, and since when all uses are known. */
function evidenceOf(
  t: Texts,
  { usedCapabilityCount: used, capabilityCount: all, observedSinceTime }: AccessReviewItem,
  locale: string,
): string {
  const since = observedSinceTime ? dayText(timestampDate(observedSinceTime), locale) : undefined;
  return since === undefined ? t("reviews.unknown") : t("reviews.evidence", { used, all, since });
}

function Actions({ item }: { readonly item: AccessReviewItem }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { change } = useReviewAddress();
  const { roleBindingUid, groupUid, roleName, decision, identityUid } = item;
  if (decision !== AccessReviewDecision.PENDING) return null;
  if (identityUid === me?.subject) return <span className="muted small">{t("reviews.own")}</span>;
  return (
    <ActionMenu
      isInRow
      label={t("reviews.actionsOf", { name: [roleName || "…", identityText(t, holderOf(item))].join(" · ") })}
      actions={[
        {
          text: t("reviews.confirm"),
          missing: missingFor(me, createRoleBinding, groupUid),
          onClick: () => void change({ dialog: "confirm", item: roleBindingUid }),
        },
        {
          text: t("reviews.revoke"),
          missing: missingFor(me, deleteRoleBinding, groupUid),
          isDangerous: true,
          onClick: () => void change({ dialog: "revoke", item: roleBindingUid }),
        },
      ]}
    />
  );
}
