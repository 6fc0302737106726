// The dialog that decides about one role binding of a review.
import { useState } from "react";
import {
  type AccessReview,
  AccessReviewDecision,
  type AccessReviewItem,
  AccessReviewsService,
} from "../../../../gen/gatehouse/access/v1/access_reviews_pb.ts";
import { groupText, identityText } from "../../api/naming.ts";
import { TextField } from "../../shell/fields.tsx";
import { DeleteResourceDialog, SaveDialog } from "../../shell/resource-dialogs.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useReviewAddress } from "./address.ts";
import { holderOf } from "./holder.ts";

const { decideAccessReviewItems } = AccessReviewsService.method;

interface DecideProps {
  readonly review: AccessReview;
  readonly item: AccessReviewItem;
  readonly isRevocation: boolean;
}

/** The dialog. A revocation deletes the role binding, which it says. */
export function DecideItem({ review, item, isRevocation }: DecideProps) {
  const { t } = useTexts();
  const { close } = useReviewAddress();
  const [comment, setComment] = useState("");
  const { roleBindingUid, roleName, groupName } = item;
  const decision = isRevocation ? AccessReviewDecision.REVOKED : AccessReviewDecision.CONFIRMED;
  const names = {
    role: roleName || "…",
    who: identityText(t, holderOf(item)),
    group: groupText(t, groupName || undefined),
  };
  const shared = {
    method: decideAccessReviewItems,
    request: { uid: review.uid, decisions: [{ roleBindingUid, decision, comment }] },
    onClose: close,
  };
  const field = <TextField label={t("reviews.comment")} value={comment} maxLength={1000} onChange={setComment} />;
  if (isRevocation)
    return (
      <DeleteResourceDialog
        {...shared}
        title={t("reviews.revokeTitle", names)}
        text={t("reviews.revokeText")}
        button={t("reviews.revoke")}
        report={t("reviews.done.revoked")}
      >
        {field}
      </DeleteResourceDialog>
    );
  return (
    <SaveDialog
      {...shared}
      title={t("reviews.confirmTitle", names)}
      fields={[]}
      button={t("reviews.confirm")}
      report={t("reviews.done.confirmed")}
    >
      {() => (
        <>
          <p>{t("reviews.confirmText")}</p>
          {field}
        </>
      )}
    </SaveDialog>
  );
}
