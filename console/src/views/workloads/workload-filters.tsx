// The filters of the list of workloads. They stand in the address.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useId } from "react";
import { RelationshipType } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import type { SearchIdentitiesRequestSchema } from "../../../../gen/gatehouse/iam/v1/identities_pb.ts";
import { dayMs } from "../../api/durations.ts";
import filterStyles from "../../shell/filters.module.css";
import { Picker } from "../../shell/picker.tsx";
import { TextFilter } from "../../shell/text-filter.tsx";
import type { TextId } from "../../texts/catalogues.ts";
import { useTexts } from "../../texts/texts.ts";
import { useWorkloadsAddress, type WorkloadsSearch } from "./address.ts";

const relationships = {
  claimMatch: RelationshipType.CLAIM_MATCH,
  staticKeys: RelationshipType.STATIC,
  aws: RelationshipType.AWS_IDENTITY,
  service: RelationshipType.SERVICE_PRINCIPAL,
} as const;

// "never7d" is what the overview finds: the creation of an identity counts as seen.
const unusedDays = { never7d: 7, "30d": 30, "90d": 90 } as const;
/** From how many days before their end keys are shown as ending soon. */
export const endsSoonDays = 14;

const noFilters = {
  filter: undefined,
  issuer: undefined,
  type: undefined,
  used: undefined,
  keys: undefined,
  group: undefined,
  page: undefined,
};

/** Returns what the address asks for, as a request. */
export function useWorkloadFilter() {
  const { org, search, change } = useWorkloadsAddress();
  const { filter = "", issuer = "", type, used, keys, group } = search;
  // To the hour: a time that changes with every look would be another request each time.
  const nowMs = Math.floor(Date.now() / 3_600_000) * 3_600_000;
  const request: MessageInitShape<typeof SearchIdentitiesRequestSchema> = {
    parent: group ?? org,
    query: filter,
    issuer,
    relationshipType: type ? relationships[type] : RelationshipType.UNSPECIFIED,
    neverUsed: used === "never" || used === "never7d",
    ...(used && used !== "never" && { lastSeenEndTime: timestampFromMs(nowMs - unusedDays[used] * dayMs) }),
    ...(keys && { keysEndTime: timestampFromMs(nowMs + (keys === "ended" ? 0 : endsSoonDays * dayMs)) }),
  };
  const isFiltered = [filter, issuer, type, used, keys, group].some((value) => value !== undefined && value !== "");
  return { filter: request, isFiltered, clear: () => void change(noFilters) };
}

const types = [
  { value: "claimMatch", text: "type.claimMatch" },
  { value: "staticKeys", text: "type.staticKeys" },
  { value: "aws", text: "type.awsIdentity" },
  { value: "service", text: "type.servicePrincipal" },
] as const;
const uses = [
  { value: "never", text: "identities.neverUsed" },
  { value: "never7d", text: "identities.neverUsed7" },
  { value: "30d", text: "identities.unused30" },
  { value: "90d", text: "identities.unused90" },
] as const;
const ends = [
  { value: "14d", text: "identities.keysEnd" },
  { value: "ended", text: "identities.keysEnded" },
] as const;

/** The fields for names, subjects and uids, issuer, type, last use, end of keys and group. A pasted uid opens its identity. */
export function WorkloadFilters() {
  const { t } = useTexts();
  const { org, search, open, change } = useWorkloadsAddress();
  return (
    <div className={`${filterStyles.filters} ${filterStyles.even}`}>
      <TextFilter
        label={t("identities.filter")}
        value={search.filter ?? ""}
        onChange={(filter) => void change({ filter, page: undefined })}
        onUid={(uid) => void open(uid)}
      />
      <TextFilter
        label={t("identities.issuer")}
        value={search.issuer ?? ""}
        onChange={(issuer) => void change({ issuer, page: undefined })}
      />
      <Choice name="type" label={t("identities.type")} any={t("identities.anyType")} choices={types} />
      <Choice name="used" label={t("identities.use")} any={t("identities.anyUse")} choices={uses} />
      <Choice name="keys" label={t("identities.keys")} any={t("identities.anyKeys")} choices={ends} />
      <Picker
        kind="group"
        label={t("wizard.group")}
        within={org}
        value={search.group ?? ""}
        onChange={(uid) => void change({ group: uid === org ? undefined : uid || undefined, page: undefined })}
      />
    </div>
  );
}

function Choice<Name extends "type" | "used" | "keys">({
  name,
  label,
  any,
  choices,
}: {
  readonly name: Name;
  readonly label: string;
  readonly any: string;
  readonly choices: readonly { readonly value: NonNullable<WorkloadsSearch[Name]>; readonly text: TextId }[];
}) {
  const { t } = useTexts();
  const id = useId();
  const { search, change } = useWorkloadsAddress();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className="select"
        value={search[name] ?? ""}
        onChange={({ target }) => void change({ [name]: target.value || undefined, page: undefined })}
      >
        <option value="">{any}</option>
        {choices.map(({ value, text }) => (
          <option key={value} value={value}>
            {t(text)}
          </option>
        ))}
      </select>
    </div>
  );
}
