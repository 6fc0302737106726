// The requests that wait for the caller: break-glass to acknowledge, then those to decide. Those that expire first come first.
import type { AccessRequest } from "../../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import { Empty } from "../../shell/look.tsx";
import { ActionButton } from "../../shell/parts.tsx";
import { useRequestColumns } from "../../shell/requests/columns.tsx";
import { useMyRequests, waitingIn, within } from "../../shell/requests/my-requests.ts";
import { Table } from "../../shell/table.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useRequestsAddress } from "./address.ts";

/** The list, with a button for each decision. */
export function Inbox() {
  const { t } = useTexts();
  const { org } = useRequestsAddress();
  const { data, error, refetch } = useMyRequests();
  const rows = within(org, waitingIn(data));
  const { what, who, length, reason, expires } = useRequestColumns(rows ?? []);
  return (
    <Table
      label={t("requests.inbox", { count: 0 })}
      list={{ rows, error, onRetry: () => void refetch() }}
      columns={[
        what,
        who,
        length,
        reason,
        expires,
        { title: t("requests.decision"), isAction: true, cell: (request) => <Decisions request={request} /> },
      ]}
      keyOf={({ uid }) => uid}
      empty={<Empty>{t("requests.inbox.none")}</Empty>}
    />
  );
}

/** The buttons that open the dialogs of a decision. */
export function Decisions({
  request: { uid, breakGlass },
  isPage = false,
}: {
  readonly request: AccessRequest;
  readonly isPage?: boolean;
}) {
  const { t } = useTexts();
  const { change } = useRequestsAddress();
  if (breakGlass)
    return (
      <ActionButton
        missing={[]}
        {...(isPage && { variant: "filled" })}
        onClick={() => void change({ dialog: "acknowledge", request: uid })}
      >
        {t("requests.acknowledge")}
      </ActionButton>
    );
  return (
    <div className="row tight">
      <ActionButton
        missing={[]}
        {...(isPage && { variant: "filled" })}
        onClick={() => void change({ dialog: "approve", request: uid })}
      >
        {t("requests.approve")}
      </ActionButton>
      <ActionButton missing={[]} onClick={() => void change({ dialog: "deny", request: uid })}>
        {t("requests.deny")}
      </ActionButton>
    </div>
  );
}
