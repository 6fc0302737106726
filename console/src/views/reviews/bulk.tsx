// Dialogs that decide about several role bindings of a review.
import { useState } from "react";
import {
  AccessReviewDecision,
  type AccessReviewItem,
  AccessReviewsService,
} from "../../../../gen/gatehouse/access/v1/access_reviews_pb.ts";
import { useMe } from "../../api/access.ts";
import type { BulkProps } from "../../shell/bulk.ts";
import { BulkDialog } from "../../shell/bulk-dialog.tsx";
import { TextField } from "../../shell/fields.tsx";
import { useCall } from "../../shell/use-call.ts";
import { useTexts } from "../../texts/texts.ts";
import { useReviewAddress } from "./address.ts";

/** The dialog that confirms role bindings. */
export function ConfirmItems(props: BulkProps<AccessReviewItem>) {
  const { t } = useTexts();
  return (
    <Decide
      {...props}
      decision={AccessReviewDecision.CONFIRMED}
      title={(count) => t("reviews.bulk.confirm", { count })}
      text={t("reviews.confirmText")}
      button={t("reviews.confirm")}
    />
  );
}

/** The dialog that revokes role bindings. */
export function RevokeItems(props: BulkProps<AccessReviewItem>) {
  const { t } = useTexts();
  return (
    <Decide
      {...props}
      isDeletion
      decision={AccessReviewDecision.REVOKED}
      title={(count) => t("reviews.bulk.revoke", { count })}
      text={t("reviews.revokeText")}
      button={t("reviews.revoke")}
    />
  );
}

interface DecideProps extends BulkProps<AccessReviewItem> {
  readonly decision: AccessReviewDecision;
  readonly title: (count: number) => string;
  readonly text: string;
  readonly button: string;
  readonly isDeletion?: boolean;
}

/** Decides each item by a call of its own: one that is rejected stops no other. What is decided, and one's own, is left out. */
function Decide({ decision, ...props }: DecideProps) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { selected: uid } = useReviewAddress();
  const call = useCall(AccessReviewsService.method.decideAccessReviewItems);
  const [comment, setComment] = useState("");
  return (
    <BulkDialog
      {...props}
      keep={(item) => item.decision === AccessReviewDecision.PENDING && item.identityUid !== me?.subject}
      act={({ roleBindingUid }) => call({ uid, decisions: [{ roleBindingUid, decision, comment }] })}
    >
      <TextField label={t("reviews.comment")} value={comment} maxLength={1000} onChange={setComment} />
    </BulkDialog>
  );
}
