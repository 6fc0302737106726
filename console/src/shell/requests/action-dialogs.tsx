// The dialogs that decide about an access request, cancel it, and end its role. Load the texts `requests` with them.
import { durationMs } from "@bufbuild/protobuf/wkt";
import { Textarea } from "@mantine/core";
import { type AccessRequest, AccessRequestsService } from "../../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import { refreshMe, useMe } from "../../api/access.ts";
import { useNamed } from "../../api/naming.ts";
import type { TextId } from "../../texts/catalogues.ts";
import { lengthText, useTexts } from "../../texts/texts.ts";
import { useDraft } from "../draft.ts";
import { DeleteResourceDialog, SaveDialog } from "../resource-dialogs.tsx";
import { requestText } from "./columns.tsx";

const { approveAccessRequest, denyAccessRequest, acknowledgeAccessRequest, cancelAccessRequest, endAccessRequest } =
  AccessRequestsService.method;

/** The actions on a request. */
export const requestActions = ["approve", "deny", "acknowledge", "cancel", "end"] as const;

/** One of them. */
export type RequestAction = (typeof requestActions)[number];

interface RequestDialogProps {
  readonly request: AccessRequest;
  readonly onClose: () => unknown;
}

/** The dialog of an action. */
export function RequestActionDialog({ action, ...props }: RequestDialogProps & { readonly action: RequestAction }) {
  if (action === "cancel") return <Cancel {...props} />;
  return action === "end" ? <End {...props} /> : <Decide action={action} {...props} />;
}

type Decision = Exclude<RequestAction, "cancel" | "end">;

// The requests of all of them have the same fields.
const methods = {
  approve: approveAccessRequest,
  deny: denyAccessRequest as unknown as typeof approveAccessRequest,
  acknowledge: acknowledgeAccessRequest as unknown as typeof approveAccessRequest,
};

const decisionTexts = {
  approve: { title: "requests.approveTitle", button: "requests.approve", report: "requests.done.approved" },
  deny: { title: "requests.denyTitle", button: "requests.deny", report: "requests.done.denied" },
  acknowledge: {
    title: "requests.acknowledgeTitle",
    button: "requests.acknowledge",
    report: "requests.done.acknowledged",
  },
} as const satisfies Readonly<Record<Decision, Readonly<Record<string, TextId>>>>;

function Decide({ action, request, onClose }: RequestDialogProps & { readonly action: Decision }) {
  const { t } = useTexts();
  const { title, button, report } = decisionTexts[action];
  const [comment, setComment] = useDraft("request.comment", "");
  return (
    <SaveDialog
      title={t(title, { what: requestText(t, request) })}
      method={methods[action]}
      request={{ uid: request.uid, comment }}
      fields={["comment"]}
      button={t(button)}
      report={t(report)}
      onClose={onClose}
    >
      {(errors) => (
        <>
          <Summary request={request} />
          <Textarea
            name="comment"
            label={t("requests.comment")}
            description={t("requests.commentHelp")}
            rows={2}
            maxLength={1000}
            value={comment}
            error={errors.comment}
            autoComplete="off"
            data-autofocus
            // The server takes one line.
            onChange={({ currentTarget }) => setComment(currentTarget.value.replace(/[\r\n]+/g, " "))}
          />
        </>
      )}
    </SaveDialog>
  );
}

/** Who asks for how long, and why. */
function Summary({ request }: { readonly request: AccessRequest }) {
  const { t, locale } = useTexts();
  const { identityUid, identityName, duration, reason } = request;
  const named = useNamed([identityUid]);
  return (
    <dl className="facts">
      <dt>{t("requests.who")}</dt>
      <dd>
        <bdi>{identityName || named(identityUid)}</bdi>
      </dd>
      <dt>{t("requests.length")}</dt>
      <dd>{duration && t("requests.fromApproval", { length: lengthText(durationMs(duration), locale) })}</dd>
      <dt>{t("requests.reason")}</dt>
      <dd>
        <bdi>{reason}</bdi>
      </dd>
    </dl>
  );
}

function Cancel({ request, onClose }: RequestDialogProps) {
  const { t } = useTexts();
  return (
    <DeleteResourceDialog
      title={t("requests.cancelTitle", { what: requestText(t, request) })}
      text={t("requests.cancelText")}
      button={t("requests.cancel")}
      method={cancelAccessRequest}
      request={{ uid: request.uid }}
      report={t("requests.done.cancelled")}
      onClose={onClose}
    />
  );
}

function End({ request, onClose }: RequestDialogProps) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const isOwn = me?.subject === request.identityUid;
  return (
    <DeleteResourceDialog
      title={t(isOwn ? "requests.giveBackTitle" : "requests.endTitle", { what: requestText(t, request) })}
      text={t(isOwn ? "requests.giveBackText" : "requests.endText")}
      button={t(isOwn ? "requests.giveBack" : "requests.end")}
      method={endAccessRequest}
      request={{ uid: request.uid }}
      report={t("requests.done.ended")}
      onDeleted={async () => {
        await onClose();
        await refreshMe();
      }}
      onClose={onClose}
    />
  );
}
