// What an identity may do, and where.
import { useQuery } from "@connectrpc/connect-query";
import { AccessService, type HeldRole } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { useMe } from "../../api/access.ts";
import { useNames } from "../../api/resources.ts";
import { shortUid } from "../../api/uids.ts";
import { Names } from "../../shell/access-preview.tsx";
import { CopyAs } from "../../shell/parts.tsx";
import { Picker } from "../../shell/picker.tsx";
import { type Column, Pager, pageSize, pagesOf, Table } from "../../shell/table.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useAccessAddress } from "./address.ts";
import { BindingLine } from "./binding-line.tsx";

const { whatCan } = AccessService.method;

/** The roles of an identity: of the caller without one. */
export function OfIdentity() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, search, set, ask } = useAccessAddress();
  const identity = search.identity ?? me?.subject ?? "";
  const open = (page: number | undefined) => void set({ page });
  const request = { identity, pageSize, skip: pagesOf(search.page, undefined, open).skip };
  const { data, error, refetch } = useQuery(whatCan, request, { enabled: identity !== "" });
  const rows = data && [...data.mappedRoles, ...data.roles];
  const groups = useNames("group", rows?.flatMap(({ effectiveGroupUids }) => effectiveGroupUids) ?? []);
  return (
    <div className="stack">
      <div className="filters">
        <Picker
          kind="identity"
          label={t("access.identity")}
          within={org}
          value={identity}
          onChange={(uid) => void ask({ identity: uid || undefined })}
        />
        <div className="grow" />
        <CopyAs method={whatCan} request={request} />
      </div>
      <Table
        label={t("access.roles")}
        list={{ rows, error, onRetry: () => void refetch() }}
        columns={useColumns(groups)}
        keyOf={({ binding, capabilities }) => binding?.roleBindingUid || binding?.groupUid || capabilities.join()}
        empty={<p className="notice">{t("access.noRole")}</p>}
      />
      <Pager {...pagesOf(search.page, Number(data?.totalCount ?? 0), open)} count={data?.roles.length ?? 0} />
    </div>
  );
}

function useColumns(groups: ReadonlyMap<string, string>): Column<HeldRole>[] {
  const { t } = useTexts();
  return [
    {
      title: t("access.role"),
      cell: ({ binding }) => (binding ? <BindingLine binding={binding} at="" /> : <span>{t("access.byMapping")}</span>),
    },
    {
      title: t("access.effective"),
      cell: ({ effectiveGroupUids, confined }) => (
        <div className="lines">
          {effectiveGroupUids.map((uid) => (
            <GroupLink key={uid} uid={uid} name={groups.get(uid)} />
          ))}
          {confined && <span className="warning">⊘ {t("access.confined")}</span>}
        </div>
      ),
    },
    { title: t("access.capabilities"), cell: ({ capabilities }) => <Names names={capabilities} /> },
  ];
}

function GroupLink({ uid, name }: { readonly uid: string; readonly name: string | undefined }) {
  const { ask } = useAccessAddress();
  return (
    <button
      type="button"
      className="link"
      onClick={() => void ask({ tab: undefined, group: uid, identity: undefined })}
    >
      <bdi>{name ?? shortUid(uid)}</bdi>
    </button>
  );
}
