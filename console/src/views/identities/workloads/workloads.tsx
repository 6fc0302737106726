// "Which workloads are there, and what may assume their identities?"
import { useQuery } from "@connectrpc/connect-query";
import { IdentitiesService, type Identity } from "../../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { may, requiredBy, useMe } from "../../../api/access.ts";
import { useOrganizationUid } from "../../../shell/organization.tsx";
import { CopyAs, Loading } from "../../../shell/parts.tsx";
import { Denied } from "../../../shell/states.tsx";
import { type Column, Table } from "../../../shell/table.tsx";
import { useTexts } from "../../../texts/texts.ts";
import { IdentitiesFrame } from "../frame.tsx";

const { listIdentities } = IdentitiesService.method;

/** The list of the identities of workloads. */
export function Workloads() {
  const { t } = useTexts();
  const { data: me } = useMe();
  const org = useOrganizationUid();
  const mayList = may(me, listIdentities);
  const request = { uidp: { descendantsOf: org }, orderBy: "name" };
  const { data, error, refetch } = useQuery(listIdentities, request, { enabled: mayList });
  const columns: Column<Identity>[] = [{ title: "Name", cell: ({ name }) => <bdi>{name}</bdi> }];
  if (!me) return <Loading />;
  return (
    <IdentitiesFrame tab="workloads" actions={<CopyAs method={listIdentities} request={request} />}>
      {mayList ? (
        <Table
          label={t("workloads.list")}
          list={{ rows: data?.identities, error, onRetry: () => void refetch() }}
          columns={columns}
          keyOf={({ uid }) => uid}
          empty={<p className="notice">{t("list.noMatch")}</p>}
        />
      ) : (
        <Denied capabilities={requiredBy(listIdentities)} uid={org} />
      )}
    </IdentitiesFrame>
  );
}
