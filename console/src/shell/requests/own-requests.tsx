// The access requests of the caller, with the ways to cancel one and to give its role back. Load the texts `requests` with them.
import { useState } from "react";
import { type AccessRequest, AccessRequestState } from "../../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import { useTexts } from "../../texts/texts.ts";
import { Empty } from "../look.tsx";
import { ActionButton } from "../parts.tsx";
import { Table } from "../table.tsx";
import { type RequestAction, RequestActionDialog } from "./action-dialogs.tsx";
import { useRequestColumns } from "./columns.tsx";
import { useMyRequests, within } from "./my-requests.ts";

/** The table, of an organization, or of all. */
export function OwnRequests({ org }: { readonly org: string }) {
  const { t } = useTexts();
  const { data, error, refetch } = useMyRequests();
  const rows = within(org, data?.requests);
  const [opened, setOpened] = useState<{ readonly action: RequestAction; readonly request: AccessRequest }>();
  const { what, length, reason, status, created } = useRequestColumns(rows ?? []);
  return (
    <>
      <Table
        label={t("requests.mine")}
        list={{ rows, error, onRetry: () => void refetch() }}
        columns={[
          what,
          length,
          reason,
          status,
          created,
          {
            title: t("requests.actions"),
            isAction: true,
            cell: (request) => {
              const action = ownAction(request);
              if (action === undefined) return null;
              return (
                <ActionButton missing={[]} onClick={() => setOpened({ action, request })}>
                  {t(action === "cancel" ? "requests.cancel" : "requests.giveBack")}
                </ActionButton>
              );
            },
          },
        ]}
        keyOf={({ uid }) => uid}
        empty={<Empty>{t("requests.mine.none")}</Empty>}
      />
      {opened && <RequestActionDialog {...opened} onClose={() => setOpened(undefined)} />}
    </>
  );
}

/** Returns what the requester can do with a request. */
export function ownAction({ state }: AccessRequest): "cancel" | "end" | undefined {
  if (state === AccessRequestState.PENDING) return "cancel";
  return state === AccessRequestState.ACTIVE ? "end" : undefined;
}
