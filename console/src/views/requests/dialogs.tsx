// The dialogs of access requests that are in the address.
import { useQuery } from "@connectrpc/connect-query";
import { AccessRequestsService } from "../../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import { RequestActionDialog, requestActions } from "../../shell/requests/action-dialogs.tsx";
import { RequestDialog } from "../../shell/requests/request-dialog.tsx";
import { useRequestsAddress } from "./address.ts";

/** Shows the dialog. */
export function RequestDialogs() {
  const { org, search, open, close } = useRequestsAddress();
  const { dialog, request: uid = "", group, role } = search;
  const action = requestActions.find((one) => one === dialog);
  const { data: request } = useQuery(
    AccessRequestsService.method.getAccessRequest,
    { uid },
    { enabled: action !== undefined && uid !== "" },
  );
  if (dialog === "new")
    return (
      <RequestDialog org={org} preset={{ group, role }} onClose={close} onSaved={() => open("", { tab: "mine" })} />
    );
  if (action === undefined || !request) return null;
  return <RequestActionDialog action={action} request={request} onClose={close} />;
}
