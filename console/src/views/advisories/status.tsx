// What an event says of an advisory, and the status that follows.
import {
  type Advisory,
  type AdvisoryEvent,
  ReviewState,
} from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import type { IconName } from "../../shell/icon.tsx";
import { Pill, type Tone } from "../../shell/look.tsx";
import { type Texts, useTexts } from "../../texts/texts.ts";
import type { statuses } from "./address.ts";

/** A status. */
export type Status = (typeof statuses)[number];

/** The status that each type of event makes. */
export const statusOfCase: Readonly<Record<NonNullable<AdvisoryEvent["type"]["case"]>, Status>> = {
  detection: "detected",
  truePositiveDetermination: "affected",
  fixed: "fixed",
  falsePositiveDetermination: "notAffected",
  analysisNotPlanned: "analysisNotPlanned",
  fixNotPlanned: "fixNotPlanned",
  pendingUpstreamFix: "pendingUpstream",
  patched: "patched",
};

const looks: Readonly<Record<Status, readonly [icon: IconName, tone: Tone]>> = {
  detected: ["question", "medium"],
  affected: ["alert", "critical"],
  fixed: ["check-circle-fill", "good"],
  notAffected: ["check-circle-fill", "good"],
  analysisNotPlanned: ["skip", "neutral"],
  fixNotPlanned: ["x-circle-fill", "critical"],
  pendingUpstream: ["clock", "medium"],
  patched: ["check-circle-fill", "good"],
};

/** Returns the latest approved event: it is the state of the advisory. */
export function latestApproved({ events }: Advisory): AdvisoryEvent | undefined {
  return events.findLast(({ reviewState }) => reviewState === ReviewState.APPROVED);
}

/** Whether the review of an event is final: the event cannot change any more. */
export function isFinal({ reviewState }: AdvisoryEvent): boolean {
  return reviewState === ReviewState.APPROVED || reviewState === ReviewState.REJECTED;
}

/** Returns the status that an event states, as a text. */
export function statusText(t: Texts, event: AdvisoryEvent | undefined): string {
  const kind = event?.type.case;
  return kind === undefined ? t("advisories.underReview") : t(`advisories.status.${statusOfCase[kind]}`);
}

/** The status that an event states, with an icon. Without an event nothing has been approved yet. */
export function StatusOf({ event }: { readonly event: AdvisoryEvent | undefined }) {
  const { t } = useTexts();
  const kind = event?.type.case;
  if (kind === undefined) return <Pill icon="question">{statusText(t, event)}</Pill>;
  const [icon, tone] = looks[statusOfCase[kind]];
  return (
    <Pill icon={icon} tone={tone}>
      {statusText(t, event)}
    </Pill>
  );
}

/** Returns the versions without the vulnerability. */
export function fixedIn(event: AdvisoryEvent | undefined): string {
  if (event?.type.case === "fixed") return event.type.value.fixedVersion;
  return event?.type.case === "patched" ? event.type.value.patchedVersions.join(", ") : "";
}

/** Returns why an event says what it says. */
export function noteOf({ type }: AdvisoryEvent): string {
  return type.case !== undefined && "note" in type.value ? type.value.note : "";
}
