import type { AccessReviewItem } from "../../../../gen/gatehouse/access/v1/access_reviews_pb.ts";

/** Returns who holds the role of an item, as it was when the review began. */
export function holderOf({ identityUid: uid, identityName: name }: AccessReviewItem) {
  return { uid, name };
}
