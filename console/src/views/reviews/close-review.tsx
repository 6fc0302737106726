// The dialog that closes a review before its due time.
import {
  type AccessReview,
  AccessReviewOnDue,
  AccessReviewsService,
} from "../../../../gen/gatehouse/access/v1/access_reviews_pb.ts";
import { DeleteResourceDialog } from "../../shell/resource-dialogs.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useReviewAddress } from "./address.ts";

/** The dialog. Where role bindings end, the title has to be typed. */
export function CloseReview({ review }: { readonly review: AccessReview }) {
  const { t } = useTexts();
  const { close } = useReviewAddress();
  const { uid, title, onDue, pendingCount } = review;
  const ends = onDue === AccessReviewOnDue.END_UNCONFIRMED && pendingCount > 0;
  return (
    <DeleteResourceDialog
      title={t("reviews.closeTitle", { title })}
      text={ends ? t("reviews.closeEnds", { count: pendingCount }) : t("reviews.closeKeeps")}
      button={t("reviews.close")}
      {...(ends && { name: title })}
      method={AccessReviewsService.method.closeAccessReview}
      request={{ uid }}
      report={t("reviews.done.closed")}
      onClose={close}
    />
  );
}
