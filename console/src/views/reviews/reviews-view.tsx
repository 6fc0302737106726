// "Is each role still needed?" The list of access reviews, or the page of one of them.
import { lazyPart } from "../../shell/lazy-part.tsx";
import { Loading } from "../../shell/parts.tsx";
import { useReviewAddress } from "./address.ts";
import { ReviewList } from "./review-list.tsx";

const ReviewPage = lazyPart(async () => (await import("./review-page.tsx")).ReviewPage, <Loading />);

/** Shows what the address names. */
export function ReviewsView() {
  const { selected } = useReviewAddress();
  return selected === "" ? <ReviewList /> : <ReviewPage key={selected} uid={selected} />;
}
