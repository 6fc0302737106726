// The roles and capabilities of one identity, by group.
import { useQuery } from "@connectrpc/connect-query";
import { AccessService } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { useMe } from "../../api/access.ts";
import filterStyles from "../../shell/filters.module.css";
import { HeldTree } from "../../shell/held-tree.tsx";
import { Pager, pageSize, pagesOf } from "../../shell/pager.tsx";
import { CopyAs, Loading } from "../../shell/parts.tsx";
import { Picker } from "../../shell/picker.tsx";
import { ProfileLink } from "../../shell/profile-link.tsx";
import { Failure } from "../../shell/states.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useAccessAddress } from "./use-address.ts";

const { whatCan } = AccessService.method;

/** The roles of an identity: of the caller without one. */
export function OfIdentity() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org, search, change, ask } = useAccessAddress();
  const identity = search.identity ?? me?.subject ?? "";
  const open = (page: number | undefined) => void change({ page });
  const request = { identity, pageSize, skip: pagesOf(search.page, undefined, open).skip };
  const { data, error, refetch } = useQuery(whatCan, request, { enabled: identity !== "" });
  const roles = data && [...data.mappedRoles, ...data.roles];
  return (
    <div className="stack">
      <div className={filterStyles.filters}>
        <Picker
          kind="identity"
          label={t("access.identity")}
          within={org}
          value={identity}
          onChange={(uid) => void ask({ identity: uid || undefined })}
        />
        <div className="grow" />
        <ProfileLink identity={{ uid: identity }}>{t("access.openPage")}</ProfileLink>
        <CopyAs method={whatCan} request={request} />
      </div>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!roles && !error && <Loading />}
      {roles?.length === 0 && <p className="notice">{t("access.noRole")}</p>}
      {roles && roles.length > 0 && <HeldTree roles={roles} />}
      <Pager {...pagesOf(search.page, Number(data?.totalCount ?? 0), open)} count={data?.roles.length ?? 0} />
    </div>
  );
}
