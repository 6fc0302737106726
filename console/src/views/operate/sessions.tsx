// The sessions of all people, and the dialog that ends one.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { OperateService, type Session } from "../../../../gen/gatehouse/operate/v1/operate_pb.ts";
import { useNamed } from "../../api/naming.ts";
import type { Column } from "../../shell/columns.ts";
import { Pager, pageSize, pagesOf } from "../../shell/pager.tsx";
import { ActionButton, Ago, CopyAs } from "../../shell/parts.tsx";
import { DeleteResourceDialog } from "../../shell/resource-dialogs.tsx";
import { Table } from "../../shell/table.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useOperateAddress } from "./address.ts";

const { listSessions, endSession } = OperateService.method;

/** The list. */
export function Sessions() {
  const { t } = useTexts();
  const { search, change } = useOperateAddress();
  const turn = (page: number | undefined) => void change({ page });
  const request = { pageSize, skip: pagesOf(search.page, 0, turn).skip };
  const { data, error, refetch } = useQuery(listSessions, request);
  const sessions = data?.sessions ?? [];
  const named = useNamed(sessions.filter(({ email }) => email === "").map(({ identityUid }) => identityUid));
  const columns = useColumns(named, (id) => void change({ dialog: "end", id }));
  return (
    <section className="card stack" aria-labelledby="sessions">
      <div className="row">
        <h2 id="sessions">{t("operate.sessions")}</h2>
        <div className="grow" />
        <CopyAs method={listSessions} request={request} />
      </div>
      <Table
        label={t("operate.sessions")}
        list={{ rows: data?.sessions, error, onRetry: () => void refetch() }}
        columns={columns}
        keyOf={({ sessionId }) => sessionId}
        empty={<p>{t("operate.noSessions")}</p>}
      />
      <Pager {...pagesOf(search.page, Number(data?.totalCount ?? 0), turn)} count={sessions.length} />
      <EndDialog sessions={sessions} named={named} />
    </section>
  );
}

function useColumns(named: (uid: string) => string, onEnd: (id: string) => void): Column<Session>[] {
  const { t } = useTexts();
  return [
    { title: t("operate.person"), cell: (session) => <Person session={session} name={named(session.identityUid)} /> },
    {
      title: t("operate.client"),
      cell: ({ browser, clientAddress, userAgent }) => (
        <>
          {t(browser ? "operate.browser" : "operate.program")}{" "}
          <span className="muted" title={userAgent}>
            {clientAddress}
          </span>
        </>
      ),
    },
    {
      title: t("operate.lastUse"),
      cell: ({ lastUseTime }) => (lastUseTime ? <Ago time={timestampDate(lastUseTime)} /> : t("operate.notUsed")),
    },
    {
      title: t("operate.ends"),
      cell: ({ expireTime }) => expireTime && <Ago time={timestampDate(expireTime)} />,
      isWide: true,
    },
    {
      title: t("operate.actions"),
      isAction: true,
      cell: ({ sessionId }) => (
        <ActionButton shortcut="Delete" missing={[]} color="danger" onClick={() => onEnd(sessionId)}>
          {t("operate.end")}
        </ActionButton>
      ),
    },
  ];
}

function Person({ session: { email, identityUid }, name }: { readonly session: Session; readonly name: string }) {
  const org = identityUid.split("/")[0] ?? "";
  return (
    <span title={identityUid}>
      {identityUid.includes("/") ? (
        <Link to="/o/$org/workloads/$" params={{ org, _splat: identityUid }}>
          <bdi>{email || name}</bdi>
        </Link>
      ) : (
        <bdi>{email || name}</bdi>
      )}
    </span>
  );
}

function EndDialog({
  sessions,
  named,
}: {
  readonly sessions: readonly Session[];
  readonly named: (uid: string) => string;
}) {
  const { t } = useTexts();
  const { search, close } = useOperateAddress();
  const session = sessions.find(({ sessionId }) => sessionId === search.id);
  if (search.dialog !== "end" || !session) return null;
  const { sessionId, email, identityUid } = session;
  return (
    <DeleteResourceDialog
      title={t("operate.end.title", { person: email || named(identityUid) })}
      text={t("operate.end.text")}
      button={t("operate.end")}
      method={endSession}
      request={{ sessionId }}
      report={t("operate.ended")}
      onClose={close}
    />
  );
}
