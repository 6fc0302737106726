// Lists the views of access entries.
import { type JsonObject, toJson } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { toTimestamp } from "../../aip/timestamps.ts";
import type { RowView } from "../../resource/row-view.ts";
import { eventForm, type SentenceForm, textOf } from "../../resource/sentence-form.ts";
import {
  type AccessDetails,
  accessKinds,
  type EndedSession,
  endedSessionKind,
  type KeyRetirement,
  type KeyRotation,
  keyRetirementKind,
  keyRotationKind,
  type ResourceExport,
  resourceExportKind,
  type SecretExport,
  type SeenTokenClearing,
  secretExportKind,
  seenTokenClearingKind,
} from "../../storage/change-log/access-entries.ts";

/** An entry as JSON keeps it: without members that are undefined. */
type Stored<T> = { readonly [K in keyof T]: Exclude<T[K], undefined> };

/** The form of access entries. `count` is how often it happened. */
const accessForm: SentenceForm = {
  verbs: ["allowed", "denied", "omitted"],
  verbOf: ({ after }) => textOf(after?.outcome),
  parts: { count: ({ count }) => ({ name: textOf(count) }) },
};

/** The form of denials, which name the method that was called. */
const denialForm: SentenceForm = {
  ...accessForm,
  parts: { ...accessForm.parts, method: (_, { method }) => ({ name: method.slice(method.lastIndexOf("/") + 1) }) },
};

/** Entries contain no secrets and are shown unchanged, with times as text. */
export const accessEntryViews: readonly RowView[] = [
  ...accessKinds.map((kind) => ({ kind, show: detailsOf, sentence: kind === "denials" ? denialForm : accessForm })),
  { kind: keyRotationKind, show: keyRotationOf, sentence: eventForm("rotated") },
  { kind: keyRetirementKind, show: keyRetirementOf, sentence: eventForm("retired") },
  { kind: endedSessionKind, show: endedSessionOf, sentence: eventForm("ended") },
  {
    kind: resourceExportKind,
    show: (row) => ({ ...(row as Stored<ResourceExport>) }),
    sentence: eventForm("exported"),
  },
  {
    kind: seenTokenClearingKind,
    show: (row) => ({ ...(row as Stored<SeenTokenClearing>) }),
    sentence: eventForm("cleared"),
  },
  { kind: secretExportKind, show: (row) => ({ ...(row as SecretExport) }), sentence: eventForm("exported") },
];

function keyRotationOf(row: unknown): JsonObject {
  const { kid, algorithm, othersRetireTime } = row as KeyRotation;
  return { kid, algorithm, othersRetireTime: timeText(othersRetireTime) };
}

function keyRetirementOf(row: unknown): JsonObject {
  const { kid, algorithm, retireTime } = row as KeyRetirement;
  return { kid, algorithm, retireTime: timeText(retireTime) };
}

function endedSessionOf(row: unknown): JsonObject {
  const { isBrowser, createTime, ...shown } = row as Stored<EndedSession>;
  return { ...shown, browser: isBrowser, createTime: timeText(createTime) };
}

function detailsOf(row: unknown): JsonObject {
  const { firstTime, lastTime, ...details } = row as Stored<AccessDetails>;
  return { ...details, firstTime: timeText(firstTime), lastTime: timeText(lastTime) };
}

function timeText(milliseconds: number): string {
  return toJson(TimestampSchema, toTimestamp(milliseconds));
}
