// The field for the end of a role binding: none, after some time, or at a time. Load the texts `access` with it.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { SimulateChangeResponse } from "../../../gen/gatehouse/access/v1/access_pb.ts";
import type { RoleBindingTermSchema } from "../../../gen/gatehouse/access/v1/role_binding_terms_pb.ts";
import { dayMs, hourMs, minuteMs } from "../api/durations.ts";
import { afterText, isTextId, type Texts, useTexts } from "../texts/texts.ts";
import { TextField } from "./fields.tsx";
import { SelectField } from "./select-field.tsx";

/** An end as the form has it. */
export interface End {
  /** Empty for none, "at" for a time, else the milliseconds after which it comes. */
  readonly choice: string;
  /** The time of "at", in the zone of the browser, such as "2026-12-24T18:00". */
  readonly at: string;
}

/** The end of a form that begins without one. */
export const noEnd: End = { choice: "", at: "" };

/** The lengths that are offered. */
const lengths = [hourMs, 8 * hourMs, dayMs, 7 * dayMs, 30 * dayMs, 90 * dayMs];

/** The names of the fields of an end in the API. */
export const endFields = ["expire_time", "ttl"] as const;

type Term = Pick<MessageInitShape<typeof RoleBindingTermSchema>, (typeof names)[number]>;

const names = ["expireTime", "ttl"] as const;

/** Returns the field of a term that an end sets; none without an end, or while its time is incomplete. */
export function termOf({ choice, at }: End): Term {
  if (choice === "") return {};
  if (choice !== "at") return { ttl: durationFromMs(Number(choice)) };
  const time = new Date(at).getTime();
  return Number.isNaN(time) ? {} : { expireTime: timestampFromMs(time) };
}

/** How soon and how late the server lets a role binding end, in milliseconds. */
const [soonest, latest] = [minuteMs, 5 * 365 * dayMs];

/** Whether an end can be sent: its time is complete, and neither too soon nor too late. */
export function isPossible({ choice, at }: End): boolean {
  if (choice !== "at") return true;
  const aheadMs = new Date(at).getTime() - Date.now();
  return aheadMs >= soonest && aheadMs <= latest;
}

/** Returns an end at a time, as a form that changes it begins. */
export function endAt(time: Date): End {
  const local = new Date(time.getTime() - time.getTimezoneOffset() * minuteMs);
  return { choice: "at", at: local.toISOString().slice(0, 16) };
}

/** Returns the text of the obstacle of a simulated change that lasts longer than the access of the caller. */
export function outlivesText(t: Texts, simulated: SimulateChangeResponse | undefined): string | undefined {
  const found = simulated?.obstacles.find(({ reason }) => reason === "TERM_OUTLIVES_CALLER");
  const id = `error.${found?.reason}`;
  return found && (isTextId(id) ? t(id) : found.message);
}

interface EndFieldProps {
  readonly value: End;
  /** The violations of the end, by the names of its fields. */
  readonly errors: Readonly<Record<string, string>>;
  /** An obstacle that is known before the form is sent. */
  readonly obstacle?: string | undefined;
  /** Whether it has the focus when the dialog opens. */
  readonly isFirst?: boolean;
  readonly onChange: (end: End) => void;
}

/** The field: a choice of lengths, and a time for another end. */
export function EndField({ value, errors, obstacle, isFirst = false, onChange }: EndFieldProps) {
  const { t, locale } = useTexts();
  const range = isPossible(value) ? undefined : t("access.end.range");
  const error = range ?? errors.expire_time ?? errors.ttl ?? obstacle;
  const isAt = value.choice === "at";
  return (
    <>
      <SelectField
        name={isAt ? "end" : "expire_time"}
        label={t("access.end")}
        value={value.choice}
        isFirst={isFirst}
        error={isAt ? undefined : error}
        choices={[
          { value: "", text: t("access.end.none") },
          ...lengths.map((length) => ({ value: String(length), text: afterText(length, locale) })),
          { value: "at", text: t("access.end.at") },
        ]}
        onChange={(choice) => onChange(choice === "at" ? endAt(new Date(Date.now() + dayMs)) : { choice, at: "" })}
      />
      {isAt && (
        <TextField
          name="expire_time"
          type="datetime-local"
          label={t("access.end.time")}
          description={t("access.end.zone", { zone: Intl.DateTimeFormat().resolvedOptions().timeZone })}
          value={value.at}
          error={error}
          onChange={(at) => onChange({ ...value, at })}
        />
      )}
    </>
  );
}
