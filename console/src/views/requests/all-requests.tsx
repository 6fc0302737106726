// The access requests of the organization, with those that are over.
import { AccessRequestState, AccessRequestsService } from "../../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import { may, requiredBy, useMe } from "../../api/access.ts";
import filterStyles from "../../shell/filters.module.css";
import { List } from "../../shell/list.tsx";
import { Empty } from "../../shell/look.tsx";
import { usePagedList } from "../../shell/paged-list.ts";
import { CopyAs } from "../../shell/parts.tsx";
import { useRequestColumns } from "../../shell/requests/columns.tsx";
import { SelectField } from "../../shell/select-field.tsx";
import { Denied } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { stateFilters, useRequestsAddress } from "./address.ts";

const { listAccessRequests } = AccessRequestsService.method;

const states = {
  pending: AccessRequestState.PENDING,
  active: AccessRequestState.ACTIVE,
  denied: AccessRequestState.DENIED,
  cancelled: AccessRequestState.CANCELLED,
  expired: AccessRequestState.EXPIRED,
  ended: AccessRequestState.ENDED,
} as const;

/** The list, with a filter by state. */
export function AllRequests() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, search, change } = useRequestsAddress();
  const { state } = search;
  const mayList = may(me, listAccessRequests);
  const list = usePagedList({
    method: listAccessRequests,
    request: { uidp: { descendantsOf: org }, ...(state !== undefined && { state: states[state] }) },
    rowsOf: ({ accessRequests }) => accessRequests,
    order: "create_time desc",
    isEnabled: mayList,
    address: search,
    onAddress: change,
  });
  const { what, who, length, reason, status, created } = useRequestColumns(list.rows ?? []);
  if (me && !mayList) return <Denied capabilities={requiredBy(listAccessRequests)} uid={org} />;
  const choose = (value: string) => void change({ state: stateFilters.find((one) => one === value), page: undefined });
  return (
    <div className="stack">
      <div className={filterStyles.filters}>
        <SelectField
          label={t("requests.status")}
          value={state ?? ""}
          choices={[
            { value: "", text: t("requests.anyState") },
            ...stateFilters.map((value) => ({ value, text: t(`requests.state.${value}`) })),
          ]}
          onChange={choose}
        />
        <div className="grow" />
        <CopyAs method={listAccessRequests} request={list.request} />
      </div>
      <List
        id="access-requests"
        label={t("requests.all")}
        list={list}
        columns={[what, who, length, reason, status, { ...created, sort: "create_time desc" }]}
        keyOf={({ uid }) => uid}
        empty={
          <Empty {...(state !== undefined && { onClear: () => choose("") })}>
            {t(state === undefined ? "requests.all.none" : "list.noMatch")}
          </Empty>
        }
      />
    </div>
  );
}
