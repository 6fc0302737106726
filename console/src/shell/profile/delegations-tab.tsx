// The delegations of a person or workload, which end with its rights. Load the texts `delegations` with them.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useInfiniteQuery } from "@connectrpc/connect-query";

import { useState } from "react";
import {
  type Delegation,
  DelegationsService,
  InactivityReason,
} from "../../../../gen/gatehouse/iam/v1/delegations_pb.ts";
import { holds, requiredBy, useMe } from "../../api/access.ts";
import { useResolved } from "../../api/resources.ts";
import { useTexts } from "../../texts/texts.ts";
import type { Column } from "../columns.ts";
import { DelegationActions } from "../delegation-actions.tsx";
import { DelegationLink, groupOfDelegation } from "../delegation-link.tsx";
import { delegationKindText, inactivityText } from "../delegation-texts.ts";
import { GroupPath } from "../group-path.tsx";
import { lazyPart } from "../lazy-part.tsx";
import { Empty, Pill } from "../look.tsx";
import { pageSize } from "../pager.tsx";
import { Ago, CopyAs } from "../parts.tsx";
import { byPages, ShowMore } from "../show-more.tsx";
import { Denied } from "../states.tsx";
import { Table } from "../table.tsx";
import { useProfileAddress } from "./address.ts";

const { listDelegations } = DelegationsService.method;

const DelegationDialog = lazyPart(async () => (await import("../delegation-dialogs.tsx")).DelegationDialog);

/** The maker as the page shows it. */
interface Maker {
  readonly uid: string;
  /** Absent before a person has joined. */
  readonly name?: string | undefined;
}

/** The dialog that is open, and its delegation. */
interface Opened {
  readonly dialog: "revoke" | "confirm";
  readonly delegation: Delegation;
}

/** The tab. */
export function DelegationsTab({ maker }: { readonly maker: Maker }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org } = useProfileAddress();
  const mayList = holds(me, "role_bindings.list", org);
  const request = { parent: org, maker: maker.uid, pageSize };
  const query = useInfiniteQuery(listDelegations, { ...request, pageToken: "" }, { ...byPages, enabled: mayList });
  const { data, error, refetch } = query;
  const [opened, setOpened] = useState<Opened>();
  const rows = data?.pages.flatMap(({ delegations }) => delegations);
  const columns = useColumns(rows ?? [], maker, setOpened);
  if (me && !mayList) return <Denied capabilities={requiredBy(listDelegations)} uid={org} />;
  return (
    <div className="stack">
      <div className="row">
        <p className="muted">{t("delegation.lead")}</p>
        <div className="grow" />
        <CopyAs method={listDelegations} request={request} />
      </div>
      <Table
        label={t("profile.delegations")}
        list={{ rows, error, onRetry: () => void refetch() }}
        columns={columns}
        keyOf={({ uid, kind }) => `${uid} ${kind}`}
        empty={<Empty>{t("delegation.none", { name: maker.name ?? t("picker.notJoined") })}</Empty>}
      />
      <ShowMore query={query} text={t("delegation.more")} />
      {opened && <DelegationDialog {...opened} onClose={() => setOpened(undefined)} />}
    </div>
  );
}

function useColumns(rows: readonly Delegation[], maker: Maker, onOpen: (opened: Opened) => void): Column<Delegation>[] {
  const { t } = useTexts();
  const { data: me } = useMe();
  const names = useResolved(rows.map(groupOfDelegation));
  const isOwn = me?.subject === maker.uid;
  return [
    {
      title: t("delegation.kind"),
      cell: (one) => (
        <span>
          {delegationKindText(t, one.kind)} <DelegationLink {...one} />
        </span>
      ),
    },
    { title: t("delegation.place"), cell: (one) => <GroupPath uid={groupOfDelegation(one)} names={names} /> },
    {
      title: t("delegation.force"),
      cell: (one) =>
        one.inactivity === InactivityReason.UNSPECIFIED ? (
          <Pill tone="good" icon="check-circle-fill">
            {t("delegation.inForce")}
          </Pill>
        ) : (
          <div className="lines">
            <Pill tone="medium" icon="blocked">
              {t("delegation.notInForce")}
            </Pill>
            <span className="muted small">
              <bdi>{inactivityText(t, one, maker)}</bdi>
            </span>
          </div>
        ),
    },
    {
      title: t("delegation.since"),
      isWide: true,
      cell: ({ vouchTime }) => vouchTime && <Ago time={timestampDate(vouchTime)} />,
    },
    {
      title: t("delegation.actions"),
      isAction: true,
      cell: (delegation) => (
        <div className="row tight">
          <DelegationActions
            delegation={delegation}
            isOwn={isOwn}
            onOpen={(dialog) => onOpen({ dialog, delegation })}
          />
        </div>
      ),
    },
  ];
}
