// The dialog in which the caller requests a role for a time. Load the texts `requests` with it.
import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { Checkbox } from "@mantine/core";
import {
  type AccessRequest,
  AccessRequestsService,
  type RequestableRole,
} from "../../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import { dayMs, hourMs, minuteMs } from "../../api/durations.ts";
import { errorText } from "../../api/error-text.ts";
import { groupText } from "../../api/naming.ts";
import { useTexts } from "../../texts/texts.ts";
import { Dialog } from "../dialog.tsx";
import { useDraft } from "../draft.ts";
import { TextField } from "../fields.tsx";
import { LengthField } from "../length-field.tsx";
import { Empty } from "../look.tsx";
import { Loading } from "../parts.tsx";
import { Picker } from "../picker.tsx";
import { SaveDialog } from "../resource-dialogs.tsx";
import { SelectField } from "../select-field.tsx";
import { sortRequestable, useRequestable, within } from "./my-requests.ts";

const { createAccessRequest } = AccessRequestsService.method;

/** The values that a request begins with. */
export interface RequestPreset {
  /** The group; empty to choose one. */
  readonly group?: string | undefined;
  readonly role?: string | undefined;
  readonly reason?: string | undefined;
}

interface RequestDialogProps {
  readonly preset?: RequestPreset;
  /** The organization of the roles that are offered; empty for all. */
  readonly org?: string;
  readonly onClose: () => unknown;
  readonly onSaved?: (made: AccessRequest) => unknown;
}

/** The dialog. It offers what the rules let the caller request. */
export function RequestDialog({ org = "", preset = {}, ...props }: RequestDialogProps) {
  const { t } = useTexts();
  const { data, error } = useRequestable(preset.group ?? "");
  const offered = sortRequestable(within(org, data?.requestableRoles) ?? []);
  if (offered.length > 0) return <RequestForm offered={offered} preset={preset} {...props} />;
  return (
    <Dialog title={t("requests.new")} onClose={() => void props.onClose()}>
      {error && (
        <p className="notice bad" role="alert">
          {errorText(t, error)}
        </p>
      )}
      {!data && !error && <Loading lines={3} />}
      {data && <Empty>{t("requests.noneRequestable")}</Empty>}
    </Dialog>
  );
}

interface RequestFormProps extends Omit<RequestDialogProps, "org"> {
  readonly offered: readonly RequestableRole[];
  readonly preset: RequestPreset;
}

function keyOf({ ruleUid, groupUid, roleUid }: RequestableRole): string {
  return [ruleUid, groupUid, roleUid].join(" ");
}

/** The lengths that are offered, as far as the rule allows them. */
const lengths = [15 * minuteMs, hourMs / 2, hourMs, 2 * hourMs, 4 * hourMs, 8 * hourMs, dayMs, 3 * dayMs, 7 * dayMs];

/** The length of a form that begins. */
const usualLength = hourMs;

function RequestForm({ offered, preset, onClose, onSaved }: RequestFormProps) {
  const { t } = useTexts();
  const first = offered.find(({ roleUid }) => roleUid === preset.role) ?? offered[0]!;
  const [key, setKey] = useDraft("request.role", keyOf(first));
  const [place, setPlace] = useDraft("request.group", "");
  const [length, setLength] = useDraft("request.length", 0);
  const [reason, setReason] = useDraft("request.reason", preset.reason ?? "");
  const chosen = offered.find((one) => keyOf(one) === key) ?? first;
  const { ruleUid, roleUid, groupUid, requiredApprovals, reasonPattern, maxDuration } = chosen;
  const [isEmergency, setEmergency] = useDraft("request.breakGlass", false);
  // A role without approvals is given at once anyway.
  const mayBreakGlass = chosen.breakGlass && requiredApprovals > 0;
  const breakGlass = mayBreakGlass && isEmergency;
  const isGivenAtOnce = breakGlass || requiredApprovals === 0;
  const parent = preset.group ?? (place || groupUid);
  const longest = maxDuration ? durationMs(maxDuration) : dayMs;
  const sentLength = Math.min(length || usualLength, longest);
  return (
    <SaveDialog
      title={t("requests.new")}
      method={createAccessRequest}
      request={{
        parent,
        accessRequest: { ruleUid, roleUid, reason, breakGlass, duration: durationFromMs(sentLength) },
      }}
      fields={["parent", "role_uid", "duration", "reason"]}
      button={t(breakGlass ? "requests.take" : "requests.create")}
      report={t(isGivenAtOnce ? "requests.done.given" : "requests.done.created")}
      isDisabled={reason === ""}
      {...(onSaved && { onSaved })}
      onClose={onClose}
    >
      {(errors) => (
        <>
          <RoleField
            offered={offered}
            chosen={chosen}
            error={errors.role_uid}
            onChange={(next) => {
              setKey(next);
              setPlace("");
            }}
          />
          {preset.group === undefined && (
            <Picker
              kind="group"
              name="parent"
              label={t("requests.group")}
              description={t("requests.groupHelp")}
              within={groupUid}
              value={parent}
              error={errors.parent}
              onChange={setPlace}
            />
          )}
          <LengthField
            name="duration"
            label={t("requests.length")}
            lengths={[...lengths.filter((one) => one < longest), longest]}
            value={sentLength}
            error={errors.duration}
            onChange={setLength}
          />
          <TextField
            name="reason"
            label={t("requests.reason")}
            description={t(reasonPattern === "" ? "requests.reasonHelp" : "requests.reasonPattern", {
              pattern: reasonPattern,
            })}
            value={reason}
            maxLength={1000}
            error={errors.reason}
            onChange={setReason}
          />
          {mayBreakGlass && <EmergencyField isEmergency={isEmergency} onChange={setEmergency} />}
          <p className="muted">{t("requests.approvalsNeeded", { count: breakGlass ? 0 : requiredApprovals })}</p>
        </>
      )}
    </SaveDialog>
  );
}

interface RoleFieldProps {
  readonly offered: readonly RequestableRole[];
  readonly chosen: RequestableRole;
  readonly error: string | undefined;
  readonly onChange: (key: string) => void;
}

function RoleField({ offered, chosen, error, onChange }: RoleFieldProps) {
  const { t } = useTexts();
  return (
    <SelectField
      name="role_uid"
      label={t("requests.role")}
      value={keyOf(chosen)}
      error={error}
      isFirst
      choices={offered.map((one) => ({
        value: keyOf(one),
        text: t("requests.choice", { role: one.roleName, group: groupText(t, one.groupName), rule: one.ruleName }),
      }))}
      onChange={onChange}
    />
  );
}

interface EmergencyFieldProps {
  readonly isEmergency: boolean;
  readonly onChange: (isEmergency: boolean) => void;
}

function EmergencyField({ isEmergency, onChange }: EmergencyFieldProps) {
  const { t } = useTexts();
  return (
    <Checkbox
      name="break_glass"
      label={t("requests.breakGlass.take")}
      description={t("requests.breakGlass.help")}
      checked={isEmergency}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
  );
}
