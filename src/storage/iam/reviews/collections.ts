// The collection of access reviews, and what depends on its rows.
import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import type { Collection } from "../../collection/collection.ts";
import type { Transaction } from "../../engine/session.ts";
import { forgetVouchers, vouch } from "../delegations.ts";
import { reviewCounts } from "./counts.ts";
import type { AccessReviewRow } from "./rows.ts";

/** The capabilities that a review needs to end role bindings. */
export const endingCapabilities: readonly number[] = [Capability.CAP_IAM_ROLE_BINDINGS_DELETE];

export const accessReviewCollection: Collection<AccessReviewRow> = {
  kind: "access_reviews",
  rows: (tables) => tables.accessReviews,
  entries: (tables) => tables.accessReviewEntries,
  changesAccess: [],
  unloggedColumns: [
    "pendingCount",
    "confirmedCount",
    "revokedCount",
    "goneCount",
    "changedCount",
    "keptLastOwnerCount",
  ],
  syncDependents: keepReview,
  derived: reviewCounts,
};

/** The kind of the changes of items in the change log. */
export const reviewItemKind = "access_review_items";

/** The cause in the change log of a review that is closed. */
export const closingCause = "access_review_closing";

/** The cause in the change log of the role bindings that a closing review ends. */
export const endingCause = "access_review_end";

/** The identity that creates a review which ends role bindings vouches for it, until it is closed. */
async function keepReview(tx: Transaction, before?: AccessReviewRow, after?: AccessReviewRow): Promise<void> {
  if (!before && after?.onDue === "END_UNCONFIRMED") await vouchForReview(tx, after.uid);
  if (!after || after.endTime === null) await forgetVouchers(tx, (after ?? before)!.uid);
}

/** Makes the actor of the transaction vouch for a review that ends role bindings. */
export async function vouchForReview(tx: Transaction, uid: string): Promise<void> {
  await vouch(tx, "access_reviews", uid, endingCapabilities);
}
