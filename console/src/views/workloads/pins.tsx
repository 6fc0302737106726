// The names of a workload that are pinned to immutable ids, and those that were refused because their ids differ.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import type { Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import {
  NamePolicy,
  type PinnedName,
  PinSource,
  type RefusedName,
  WorkloadTrustService,
} from "../../../../gen/gatehouse/iam/v1/workload_trust_pb.ts";
import { may, missingFor, useMe } from "../../api/access.ts";
import type { Column } from "../../shell/columns.ts";
import { Empty } from "../../shell/look.tsx";
import { ActionButton, Ago, CopyAs } from "../../shell/parts.tsx";
import { SaveDialog } from "../../shell/resource-dialogs.tsx";
import { Table } from "../../shell/table.tsx";
import { isTextId, type TextId, type Texts, useTexts } from "../../texts/texts.ts";

const { getTrust, acceptNames } = WorkloadTrustService.method;

const policies: Readonly<Record<NamePolicy, TextId>> = {
  [NamePolicy.UNSPECIFIED]: "trust.policy.off",
  [NamePolicy.FIRST_USE]: "trust.policy.firstUse",
  [NamePolicy.EXPLICIT]: "trust.policy.explicit",
  [NamePolicy.OFF]: "trust.policy.off",
};

const sources: Readonly<Record<PinSource, TextId>> = {
  [PinSource.UNSPECIFIED]: "trust.source.unknown",
  [PinSource.FIRST_USE]: "trust.source.firstUse",
  [PinSource.EXPLICIT]: "trust.source.explicit",
  [PinSource.ACCEPTED]: "trust.source.accepted",
};

/** The pins with the policy in force, and the refused names if there are any. */
export function Pins({ identity: { uid } }: { readonly identity: Identity }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const [accepted, setAccepted] = useState<RefusedName>();
  const request = { identity: uid };
  const { data, error, refetch } = useQuery(getTrust, request, { enabled: may(me, getTrust, uid) });
  const read = { error, onRetry: () => void refetch() };
  const refused = data?.refusedNames ?? [];
  return (
    <section className="stack" aria-labelledby="pins">
      <div className="row">
        <h2 id="pins">{t("trust.pins")}</h2>
        <div className="grow" />
        <CopyAs method={getTrust} request={request} />
      </div>
      {data && <p className="muted">{t(policies[data.effectiveNamePolicy] ?? "trust.policy.off")}</p>}
      {refused.length > 0 && <h3 className="row">{t("trust.refused")}</h3>}
      {refused.length > 0 && (
        <Table
          label={t("trust.refused")}
          list={{ rows: refused }}
          columns={refusedColumns(t, missingFor(me, acceptNames, uid), setAccepted)}
          keyOf={keyOf}
          empty={null}
        />
      )}
      <Table
        label={t("trust.pins")}
        list={{ rows: data?.pinnedNames, ...read }}
        columns={pinColumns(t)}
        keyOf={keyOf}
        empty={<Empty>{t("trust.pinsNone")}</Empty>}
      />
      {accepted && <AcceptName identity={uid} refused={accepted} onClose={() => setAccepted(undefined)} />}
    </section>
  );
}

interface AcceptProps {
  readonly identity: string;
  readonly refused: RefusedName;
  readonly onClose: () => void;
}

/** The dialog in front of the acceptance. It says who gets in afterwards, and who no longer does. */
function AcceptName({ identity, refused: { kind, name, id }, onClose }: AcceptProps) {
  const { t } = useTexts();
  const removesPin = id === "" || name === "";
  return (
    <SaveDialog
      title={t("trust.acceptTitle", { name: name || kindText(t, kind) })}
      method={acceptNames}
      request={{ identity, refusedNames: [{ kind, name, id }] }}
      fields={[]}
      button={t("trust.acceptButton")}
      report={t("trust.acceptedReport")}
      onClose={onClose}
    >
      {() => (
        <>
          <p tabIndex={-1} data-autofocus>
            {t(removesPin ? "trust.acceptRemoves" : "trust.acceptText", { kind: kindText(t, kind), name, id })}
          </p>
          <p className="notice warn">{t("trust.acceptWarning")}</p>
        </>
      )}
    </SaveDialog>
  );
}

type Named = Pick<PinnedName, "kind" | "name" | "id">;

function keyOf({ kind, name, id }: Named): string {
  return JSON.stringify([kind, name, id]);
}

function nameColumns(t: Texts): Column<Named>[] {
  return [
    { title: t("trust.name"), cell: ({ name }) => <Code text={name} /> },
    { title: t("trust.kind"), cell: ({ kind }) => kindText(t, kind) },
    { title: t("trust.id"), cell: ({ id }) => <Code text={id} /> },
  ];
}

function pinColumns(t: Texts): Column<PinnedName>[] {
  return [
    ...(nameColumns(t) as Column<PinnedName>[]),
    { title: t("trust.source"), cell: ({ source }) => t(sources[source] ?? "trust.source.unknown") },
    { title: t("trust.since"), cell: ({ createTime }) => createTime && <Ago time={timestampDate(createTime)} /> },
  ];
}

function refusedColumns(
  t: Texts,
  missing: readonly string[],
  onAccept: (name: RefusedName) => void,
): Column<RefusedName>[] {
  return [
    ...(nameColumns(t) as Column<RefusedName>[]),
    { title: t("trust.refusedWhy"), cell: ({ reason }) => <span className="warning">{reasonText(t, reason)}</span> },
    { title: t("trust.count"), cell: ({ count }) => count.toString() },
    { title: t("trust.last"), cell: ({ lastTime }) => lastTime && <Ago time={timestampDate(lastTime)} /> },
    {
      title: t("trust.actions"),
      isAction: true,
      cell: (refused) => (
        <ActionButton missing={missing} onClick={() => onAccept(refused)}>
          {t("trust.accept")}
        </ActionButton>
      ),
    },
  ];
}

function Code({ text }: { readonly text: string }) {
  if (text === "") return <span className="muted">–</span>;
  return (
    <code>
      <bdi>{text}</bdi>
    </code>
  );
}

/** Returns the word for a kind of names; that of the API for one of a later server. */
function kindText(t: Texts, kind: string): string {
  const id = `trust.kind.${kind}`;
  return isTextId(id) ? t(id) : kind;
}

function reasonText(t: Texts, reason: string): string {
  const id = `trust.reason.${reason}`;
  return isTextId(id) ? t(id) : reason;
}
