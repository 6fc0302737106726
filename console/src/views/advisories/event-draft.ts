// A new event of an advisory, as a form has it.
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { WhoAmI } from "../../../../gen/chainguard/platform/auth/v1/auth_pb.ts";
import {
  type AdvisoryEvent,
  type AdvisoryEvent_FalsePositiveDetermination_Type,
  AdvisoryEventSchema,
  ReviewStatus,
} from "../../../../gen/chainguard/platform/vulnerabilities/v1/advisories_pb.ts";

/** The types of events that people record, in the order of an analysis. */
export const eventCases = [
  "detection",
  "truePositiveDetermination",
  "fixed",
  "patched",
  "falsePositiveDetermination",
  "pendingUpstreamFix",
  "fixNotPlanned",
  "analysisNotPlanned",
] as const;

/** A type of event. */
export type EventCase = (typeof eventCases)[number];

/** The numbers of the reasons for which an artifact is not affected. */
export const reasons = [
  1, 2, 3, 4, 5, 6, 7,
] as const satisfies readonly AdvisoryEvent_FalsePositiveDetermination_Type[];

/** The values of the form. */
export interface EventDraft {
  readonly kind: EventCase;
  /** The fixed version, or the patched versions. */
  readonly versions: string;
  readonly reason: (typeof reasons)[number];
  readonly note: string;
  readonly author: string;
  readonly isApproved: boolean;
  readonly reviewer: string;
}

/** Returns what a form begins with. */
export function newDraft(me: WhoAmI | undefined): EventDraft {
  return {
    kind: "truePositiveDetermination",
    versions: "",
    reason: reasons[0],
    note: "",
    isApproved: false,
    author: authorOf(me),
    reviewer: authorOf(me),
  };
}

/** Returns who the caller is, as an author. */
export function authorOf(me: WhoAmI | undefined): string {
  return me?.email || me?.profile?.name || me?.subject || "";
}

/** Returns the entries of a list that is typed with commas or spaces. */
export function listIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((entry) => entry !== "");
}

/** Returns the event of a request. */
export function eventOf({ note: typed, author, isApproved, reviewer, ...said }: EventDraft): AdvisoryEvent {
  return create(AdvisoryEventSchema, {
    author: author.trim(),
    status: isApproved ? ReviewStatus.APPROVED : ReviewStatus.PENDING,
    reviewer: isApproved ? reviewer.trim() : "",
    type: contentOf(said, typed.trim()),
  });
}

type Content = NonNullable<MessageInitShape<typeof AdvisoryEventSchema>["type"]>;

function contentOf(
  { kind, versions, reason }: Pick<EventDraft, "kind" | "versions" | "reason">,
  note: string,
): Content {
  switch (kind) {
    case "detection":
      return { case: kind, value: { type: { case: "manual", value: {} } } };
    case "fixed":
      return { case: kind, value: { fixedVersion: versions.trim(), note } };
    case "patched":
      return { case: kind, value: { patchedVersions: listIn(versions), note } };
    case "falsePositiveDetermination":
      return { case: kind, value: { type: reason, note } };
    default:
      return { case: kind, value: { note } };
  }
}
