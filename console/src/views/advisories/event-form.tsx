// The dialogs that record an event of an advisory, and review it.
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { Textarea } from "@mantine/core";
import type { ReactNode } from "react";
import { Advisories, ReviewStatus } from "../../../../gen/chainguard/platform/vulnerabilities/v1/advisories_pb.ts";
import type {
  Advisory,
  AdvisoryEvent,
} from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { useMe } from "../../api/access.ts";
import { useDraft } from "../../shell/draft.ts";
import { TextField } from "../../shell/fields.tsx";
import previewStyles from "../../shell/preview.module.css";
import { Radios } from "../../shell/radios.tsx";
import { SaveDialog } from "../../shell/resource-dialogs.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useAdvisoryAddress } from "./address.ts";
import { authorOf, type EventDraft, eventCases, eventOf, newDraft, reasons } from "./event-draft.ts";
import { latestApproved, StatusOf, statusOfCase } from "./status.tsx";

const { createAdvisoryEvent, listAdvisoryEvents, updateAdvisoryEvent } = Advisories.method;

/** The dialog of a new event. It says what the advisory says afterwards. */
export function NewEvent({ advisory }: { readonly advisory: Advisory }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { close } = useAdvisoryAddress();
  const [draft, setDraft] = useDraft("newEvent", () => newDraft(me));
  return (
    <SaveDialog
      title={t("advisories.newEventTitle", { id: advisory.advisoryId })}
      method={createAdvisoryEvent}
      request={{ parentId: advisory.uid, advisoryEvent: eventOf(draft) }}
      fields={["fixed_version", "patched_versions", "note", "author", "reviewer"]}
      button={t("advisories.createEvent")}
      report={t("advisories.done.event")}
      onClose={close}
    >
      {(errors) => (
        <>
          <EventFields draft={draft} onChange={setDraft} errors={errors} />
          <Outcome advisory={advisory}>
            {draft.isApproved ? <span>{t(`advisories.status.${statusOfCase[draft.kind]}`)}</span> : undefined}
          </Outcome>
        </>
      )}
    </SaveDialog>
  );
}

interface FieldsProps {
  readonly draft: EventDraft;
  readonly onChange: (draft: EventDraft) => void;
  readonly errors: Readonly<Record<string, string>>;
}

/** The fields of an event. */
export function EventFields({ draft, onChange, errors }: FieldsProps) {
  const { t } = useTexts();
  const { kind } = draft;
  const put = (change: Partial<EventDraft>) => onChange({ ...draft, ...change });
  return (
    <>
      <Radios
        legend={t("advisories.eventType")}
        name="type"
        choices={eventCases.map((one) => ({ value: one, text: t(`advisories.status.${statusOfCase[one]}`) }))}
        value={kind}
        isInline
        isFirst
        onChange={(next) => put({ kind: next })}
      />
      {(kind === "fixed" || kind === "patched") && (
        <TextField
          name={kind === "fixed" ? "fixed_version" : "patched_versions"}
          label={t(kind === "fixed" ? "advisories.fixedVersion" : "advisories.patchedVersions")}
          value={draft.versions}
          error={errors.fixed_version ?? errors.patched_versions}
          onChange={(value) => put({ versions: value })}
        />
      )}
      {kind === "falsePositiveDetermination" && (
        <Radios
          legend={t("advisories.reason")}
          name="reason"
          choices={reasons.map((reason) => ({ value: reason, text: t(`advisories.reason.${reason}`) }))}
          value={draft.reason}
          onChange={(reason) => put({ reason })}
        />
      )}
      {kind !== "detection" && (
        <Textarea
          name="note"
          label={t("advisories.note")}
          rows={2}
          value={draft.note}
          error={errors.note}
          onChange={({ currentTarget }) => put({ note: currentTarget.value })}
        />
      )}
      <TextField
        name="author"
        label={t("advisories.author")}
        value={draft.author}
        error={errors.author}
        onChange={(value) => put({ author: value })}
      />
      <Radios
        legend={t("advisories.review")}
        name="review"
        choices={[
          { value: "pending", text: t("advisories.review.pending") },
          { value: "approved", text: t("advisories.review.approved") },
        ]}
        value={draft.isApproved ? "approved" : "pending"}
        onChange={(next) => put({ isApproved: next === "approved" })}
      />
      {draft.isApproved && (
        <Reviewer value={draft.reviewer} error={errors.reviewer} onChange={(reviewer) => put({ reviewer })} />
      )}
    </>
  );
}

interface ReviewerProps {
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (reviewer: string) => void;
}

function Reviewer({ value, error, onChange }: ReviewerProps) {
  const { t } = useTexts();
  return <TextField name="reviewer" label={t("advisories.reviewer")} value={value} error={error} onChange={onChange} />;
}

/** The status of the advisory now, and after the form is sent; without children it stays. */
function Outcome({ advisory, children }: { readonly advisory: Advisory; readonly children: ReactNode }) {
  const { t } = useTexts();
  return (
    <section className={previewStyles.preview} aria-label={t("advisories.outcome")} aria-live="polite">
      <h3>{t("advisories.outcome")}</h3>
      <p>
        <StatusOf event={latestApproved(advisory)} /> {children ? <>→ {children}</> : t("advisories.outcomeSame")}
      </p>
    </section>
  );
}

const verdicts = [ReviewStatus.APPROVED, ReviewStatus.REQUEST_CHANGES, ReviewStatus.REJECTED] as const;

interface ReviewProps {
  readonly advisory: Advisory;
  readonly event: AdvisoryEvent;
}

/** The dialog that says what the review of an event came to. Approval and rejection are final. */
export function ReviewEvent({ advisory, event }: ReviewProps) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { close } = useAdvisoryAddress();
  const transport = useTransport();
  const [status, setStatus] = useDraft<(typeof verdicts)[number]>("review.status", ReviewStatus.APPROVED);
  const [reviewer, setReviewer] = useDraft("review.reviewer", authorOf(me));
  const verdict = { status, reviewer: reviewer.trim() };
  const isApproved = status === ReviewStatus.APPROVED;
  // A later approved event stays the status.
  const last = advisory.events.indexOf(latestApproved(advisory) ?? event);
  const becomesStatus = isApproved && advisory.events.indexOf(event) >= last;
  return (
    <SaveDialog
      title={t("advisories.reviewTitle")}
      method={updateAdvisoryEvent}
      request={{ id: event.uid, author: event.author, ...verdict }}
      fields={["reviewer"]}
      button={t("advisories.saveReview")}
      report={t("advisories.done.reviewed")}
      submit={async (send) => {
        // Version 1 replaces the whole event, which has more there than in this version.
        const { items } = await callUnaryMethod(transport, listAdvisoryEvents, { parentId: advisory.uid });
        const found = items.find(({ id }) => id === event.uid);
        if (!found) throw new Error(t("advisories.eventGone"));
        await send({ ...found, ...verdict });
      }}
      onClose={close}
    >
      {(errors) => (
        <>
          <p data-autofocus tabIndex={-1}>
            <StatusOf event={event} /> · <bdi>{event.author}</bdi>
          </p>
          <Radios
            legend={t("advisories.review")}
            name="verdict"
            choices={verdicts.map((value) => ({ value, text: t(`advisories.verdict.${value}`) }))}
            value={status}
            onChange={setStatus}
          />
          <Reviewer value={reviewer} error={errors.reviewer} onChange={setReviewer} />
          <Outcome advisory={advisory}>{becomesStatus ? <StatusOf event={event} /> : undefined}</Outcome>
        </>
      )}
    </SaveDialog>
  );
}
