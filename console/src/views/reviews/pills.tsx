// The states of reviews and the decisions about their items, as pills.
import { AccessReviewDecision, AccessReviewState } from "../../../../gen/gatehouse/access/v1/access_reviews_pb.ts";
import type { IconName } from "../../shell/icon.tsx";
import { Pill, type Tone } from "../../shell/look.tsx";
import type { TextId } from "../../texts/catalogues.ts";
import { type Texts, useTexts } from "../../texts/texts.ts";

interface Look {
  readonly text: TextId;
  readonly tone: Tone;
  readonly icon?: IconName;
}

const states: Readonly<Record<number, Look>> = {
  [AccessReviewState.OPEN]: { text: "reviews.open", tone: "accent", icon: "clock" },
  [AccessReviewState.CLOSING]: { text: "reviews.closing", tone: "medium", icon: "clock" },
  [AccessReviewState.CLOSED]: { text: "reviews.closed", tone: "neutral", icon: "check" },
};

const decisions: Readonly<Record<number, Look>> = {
  [AccessReviewDecision.PENDING]: { text: "reviews.pending", tone: "neutral", icon: "clock" },
  [AccessReviewDecision.CONFIRMED]: { text: "reviews.confirmed", tone: "good", icon: "check-circle-fill" },
  [AccessReviewDecision.REVOKED]: { text: "reviews.revoked", tone: "high", icon: "x-circle-fill" },
  [AccessReviewDecision.GONE]: { text: "reviews.gone", tone: "neutral" },
  [AccessReviewDecision.CHANGED]: { text: "reviews.changed", tone: "neutral" },
  [AccessReviewDecision.KEPT_LAST_OWNER]: { text: "reviews.keptLastOwner", tone: "medium", icon: "shield-lock" },
};

/** Returns the word for the state of a review. */
export function stateText(t: Texts, state: AccessReviewState): string {
  return t(states[state]?.text ?? "reviews.state");
}

/** Returns the word for a decision. */
export function decisionText(t: Texts, decision: AccessReviewDecision): string {
  return t(decisions[decision]?.text ?? "reviews.decision");
}

/** The state of a review. */
export function StatePill({ state }: { readonly state: AccessReviewState }) {
  return <LookPill look={states[state]} />;
}

/** The decision about an item. */
export function DecisionPill({ decision }: { readonly decision: AccessReviewDecision }) {
  return <LookPill look={decisions[decision]} />;
}

function LookPill({ look }: { readonly look: Look | undefined }) {
  const { t } = useTexts();
  if (!look) return null;
  return (
    <Pill tone={look.tone} {...(look.icon && { icon: look.icon })}>
      {t(look.text)}
    </Pill>
  );
}
