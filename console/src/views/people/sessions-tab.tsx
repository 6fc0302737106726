// The sessions of a person: those by login providers of the organization; for operators all. Load the texts `operate` with it.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { type MemberSession, MembershipsService } from "../../../../gen/gatehouse/iam/v1/memberships_pb.ts";
import { OperateService, type Session } from "../../../../gen/gatehouse/operate/v1/operate_pb.ts";
import { isOperator, may, requiredBy, useMe } from "../../api/access.ts";
import type { Column } from "../../shell/columns.ts";
import { Empty } from "../../shell/look.tsx";
import type { Listed } from "../../shell/paged-list.ts";
import { pageSize } from "../../shell/pager.tsx";
import { ActionButton, Ago, CopyAs } from "../../shell/parts.tsx";
import { DeleteResourceDialog } from "../../shell/resource-dialogs.tsx";
import { Denied } from "../../shell/states.tsx";
import { Table } from "../../shell/table.tsx";
import { useTexts } from "../../texts/texts.ts";
import { usePeopleAddress } from "./address.ts";
import type { ShownPerson } from "./person.ts";

const { listMemberSessions, endMemberSession } = MembershipsService.method;
const { listSessions, endSession } = OperateService.method;

type Row = Session | MemberSession;

interface OfPerson {
  readonly person: ShownPerson;
}

/** The tab. */
export function SessionsTab({ person }: OfPerson) {
  const { data: me } = useMe();
  const { org } = usePeopleAddress();
  if (isOperator(me)) return <AllSessions person={person} />;
  if (may(me, listMemberSessions, org)) return <OwnSessions person={person} />;
  return <Denied capabilities={requiredBy(listMemberSessions)} uid={org} />;
}

/** Those by login providers of the organization. */
function OwnSessions({ person }: OfPerson) {
  const { t } = useTexts();
  const { org } = usePeopleAddress();
  const request = { organization: org, identity: person.uid };
  const { data, error, refetch } = useQuery(listMemberSessions, request);
  const [ended, setEnded] = useState<string>();
  const texts = useEndTexts(person);
  return (
    <div className="stack">
      <div className="row">
        <p className="muted">{t("profile.sessions.lead")}</p>
        <div className="grow" />
        <CopyAs method={listMemberSessions} request={request} />
      </div>
      <Sessions list={{ rows: data?.sessions, error, onRetry: () => void refetch() }} onEnd={setEnded} />
      {ended !== undefined && (
        <DeleteResourceDialog
          {...texts}
          method={endMemberSession}
          request={{ ...request, sessionId: ended }}
          onClose={() => setEnded(undefined)}
        />
      )}
    </div>
  );
}

/** All of them, for operators. */
function AllSessions({ person }: OfPerson) {
  const { t } = useTexts();
  const request = { identityUid: person.uid, pageSize };
  const { data, error, refetch } = useQuery(listSessions, request);
  const [ended, setEnded] = useState<string>();
  const texts = useEndTexts(person);
  return (
    <div className="stack">
      <div className="row">
        <p className="muted">{t("profile.sessions.all")}</p>
        <div className="grow" />
        <CopyAs method={listSessions} request={request} />
      </div>
      <Sessions list={{ rows: data?.sessions, error, onRetry: () => void refetch() }} onEnd={setEnded} />
      {ended !== undefined && (
        <DeleteResourceDialog
          {...texts}
          method={endSession}
          request={{ sessionId: ended }}
          onClose={() => setEnded(undefined)}
        />
      )}
    </div>
  );
}

/** Returns the texts of the dialog that ends a session. */
function useEndTexts({ name, email }: ShownPerson) {
  const { t } = useTexts();
  return {
    title: t("operate.end.title", { person: email || name || t("picker.notJoined") }),
    text: t("operate.end.text"),
    button: t("operate.end"),
    report: t("operate.ended"),
  };
}

interface SessionsProps {
  readonly list: Listed<Row>;
  readonly onEnd: (sessionId: string) => void;
}

function Sessions({ list, onEnd }: SessionsProps) {
  const { t } = useTexts();
  return (
    <Table
      label={t("profile.sessions")}
      list={list}
      columns={useColumns(onEnd)}
      keyOf={({ sessionId }) => sessionId}
      empty={<Empty>{t("profile.sessions.none")}</Empty>}
    />
  );
}

function useColumns(onEnd: (sessionId: string) => void): Column<Row>[] {
  const { t } = useTexts();
  return [
    {
      title: t("operate.client"),
      cell: ({ browser, clientAddress, userAgent }) => (
        <div className="lines">
          <span>
            {t(browser ? "operate.browser" : "operate.program")} <span className="muted">{clientAddress}</span>
          </span>
          <span className="muted small">
            <bdi>{userAgent}</bdi>
          </span>
        </div>
      ),
    },
    {
      title: t("profile.begun"),
      cell: ({ createTime }) => createTime && <Ago time={timestampDate(createTime)} />,
    },
    {
      title: t("operate.lastUse"),
      cell: ({ lastUseTime }) => (lastUseTime ? <Ago time={timestampDate(lastUseTime)} /> : t("operate.notUsed")),
    },
    {
      title: t("operate.ends"),
      cell: ({ expireTime }) => expireTime && <Ago time={timestampDate(expireTime)} />,
    },
    {
      title: t("operate.actions"),
      isAction: true,
      cell: ({ sessionId }) => (
        <ActionButton shortcut="Delete" missing={[]} onClick={() => onEnd(sessionId)}>
          {t("operate.end")}
        </ActionButton>
      ),
    },
  ];
}
