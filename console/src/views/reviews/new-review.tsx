// The dialog that begins a review.
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Checkbox } from "@mantine/core";
import {
  AccessReviewHolders,
  AccessReviewOnDue,
  AccessReviewsService,
} from "../../../../gen/gatehouse/access/v1/access_reviews_pb.ts";
import { outermostWith, useMe } from "../../api/access.ts";
import { dayMs } from "../../api/durations.ts";
import { useDraft } from "../../shell/draft.ts";
import { TextField } from "../../shell/fields.tsx";
import { Picker } from "../../shell/picker.tsx";
import { PickerList } from "../../shell/picker-list.tsx";
import { SaveDialog } from "../../shell/resource-dialogs.tsx";
import { SelectField } from "../../shell/select-field.tsx";
import { afterText, lengthText, useTexts } from "../../texts/texts.ts";
import { useReviewAddress } from "./address.ts";

const { createAccessReview } = AccessReviewsService.method;

/** The days until the due time, and those without a use, that are offered. */
const dueDays = [7, 14, 30, 90];
const unusedDays = [30, 90, 180];

interface Draft {
  readonly title: string;
  readonly days: string;
  readonly ends: boolean;
  readonly holders: string;
  readonly unused: string;
  readonly roles: readonly string[];
  readonly reviewers: readonly string[];
}

const empty: Draft = { title: "", days: "14", ends: false, holders: "0", unused: "0", roles: [], reviewers: [] };

interface SelectionFieldsProps {
  readonly draft: Draft;
  readonly errors: Readonly<Record<string, string>>;
  readonly onChange: (draft: Draft) => void;
}

/** The dialog. */
export function NewReview() {
  const { t, locale } = useTexts();
  const { data: me } = useMe();
  const { org, open, close } = useReviewAddress();
  const [parent, setParent] = useDraft("newReview.parent", outermostWith(me, createAccessReview, org)[0] ?? org);
  const [draft, setDraft] = useDraft<Draft>("newReview", empty);
  const { title, days, ends, holders, unused, roles, reviewers } = draft;
  const accessReview = {
    title,
    dueTime: timestampFromMs(Date.now() + Number(days) * dayMs),
    onDue: ends ? AccessReviewOnDue.END_UNCONFIRMED : AccessReviewOnDue.REPORT_ONLY,
    holders: Number(holders) as AccessReviewHolders,
    unusedDays: Number(unused),
    roleUids: [...roles],
    reviewerIdentityUids: [...reviewers],
  };
  return (
    <SaveDialog
      title={t("reviews.new")}
      method={createAccessReview}
      request={{ parent, accessReview }}
      fields={["title", "parent", "due_time", "holders", "unused_days", "role_uids", "reviewer_identity_uids"]}
      button={t("reviews.create")}
      report={t("reviews.done.created")}
      isDisabled={title.trim() === "" || parent === ""}
      onSaved={({ uid }) => open(uid)}
      onClose={close}
    >
      {(errors) => (
        <>
          <TextField
            name="title"
            label={t("reviews.name")}
            value={title}
            maxLength={200}
            error={errors.title}
            data-autofocus
            onChange={(value) => setDraft({ ...draft, title: value })}
          />
          <Picker
            kind="group"
            name="parent"
            label={t("reviews.group")}
            description={t("reviews.groupHelp")}
            within={org}
            value={parent}
            error={errors.parent}
            onChange={setParent}
          />
          <SelectField
            name="due_time"
            label={t("reviews.due")}
            value={days}
            error={errors.due_time}
            choices={dueDays.map((count) => ({ value: String(count), text: afterText(count * dayMs, locale) }))}
            onChange={(value) => setDraft({ ...draft, days: value })}
          />
          <SelectionFields draft={draft} errors={errors} onChange={setDraft} />
          <PickerList
            kind="identity"
            name="reviewer_identity_uids"
            label={t("reviews.reviewers")}
            description={t("reviews.reviewersHelp")}
            within={org}
            values={reviewers}
            error={errors.reviewer_identity_uids}
            onChange={(value) => setDraft({ ...draft, reviewers: value })}
          />
          <Checkbox
            label={t("reviews.ends")}
            description={t("reviews.endsHelp")}
            checked={ends}
            onChange={({ currentTarget }) => setDraft({ ...draft, ends: currentTarget.checked })}
          />
        </>
      )}
    </SaveDialog>
  );
}

/** The fields that select the roles under review. */
function SelectionFields({ draft, errors, onChange }: SelectionFieldsProps) {
  const { t, locale } = useTexts();
  const { org } = useReviewAddress();
  const { holders, unused, roles } = draft;
  return (
    <>
      <SelectField
        name="holders"
        label={t("reviews.holders")}
        value={holders}
        error={errors.holders}
        choices={[
          { value: String(AccessReviewHolders.UNSPECIFIED), text: t("reviews.holders.all") },
          { value: String(AccessReviewHolders.PEOPLE), text: t("reviews.holders.people") },
          { value: String(AccessReviewHolders.WORKLOADS), text: t("reviews.holders.workloads") },
        ]}
        onChange={(value) => onChange({ ...draft, holders: value })}
      />
      <PickerList
        kind="role"
        name="role_uids"
        label={t("reviews.roles")}
        description={t("reviews.rolesHelp")}
        within={org}
        values={roles}
        error={errors.role_uids}
        onChange={(value) => onChange({ ...draft, roles: value })}
      />
      <SelectField
        name="unused_days"
        label={t("reviews.unused")}
        value={unused}
        error={errors.unused_days}
        choices={[
          { value: "0", text: t("reviews.unused.all") },
          ...unusedDays.map((count) => ({
            value: String(count),
            text: t("reviews.unused.for", { length: lengthText(count * dayMs, locale) }),
          })),
        ]}
        onChange={(value) => onChange({ ...draft, unused: value })}
      />
    </>
  );
}
