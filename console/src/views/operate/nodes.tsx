// The servers that share the database: how many, of which versions, and which were not seen.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { type Node, Node_State, OperateService } from "../../../../gen/gatehouse/operate/v1/operate_pb.ts";
import type { Column } from "../../shell/columns.ts";
import { Pill } from "../../shell/look.tsx";
import { Ago, CopyAs } from "../../shell/parts.tsx";
import { Table } from "../../shell/table.tsx";
import { useTexts } from "../../texts/texts.ts";
import { Tile } from "./tile.tsx";

const { listNodes } = OperateService.method;

/** All servers of an installation fit on a page, unless one crashes again and again. */
const request = { pageSize: 200 };

/** How often the list is read: as often as servers write. */
const refetchInterval = 15_000;

function useNodes() {
  return useQuery(listNodes, request, { refetchInterval });
}

/** The number of servers that run, and what is wrong with the others. */
export function NodesTile() {
  const { t } = useTexts();
  const { data } = useNodes();
  const nodes = data?.nodes ?? [];
  const running = nodes.filter(({ state }) => state === Node_State.RUNNING);
  const notSeen = nodes.length - running.length;
  const versions = [...new Set(running.map(({ version }) => version))].sort();
  return (
    <Tile title={t("operate.nodes")} value={data ? t("operate.nodes.running", { count: running.length }) : "…"}>
      <span className="lines">
        {data && notSeen === 0 && versions.length < 2 && (
          <Pill tone="good" icon="check-circle-fill">
            {t("operate.nodes.well")}
          </Pill>
        )}
        {notSeen > 0 && (
          <Pill tone="critical" icon="x-circle-fill">
            {t("operate.nodes.notSeen", { count: notSeen })}
          </Pill>
        )}
        {versions.length > 1 && (
          <Pill tone="medium" icon="clock">
            {t("operate.nodes.versions", { count: versions.length })}
          </Pill>
        )}
      </span>
    </Tile>
  );
}

/** The list. One server alone is in the tiles already. */
export function Nodes() {
  const { t } = useTexts();
  const { data, error, refetch } = useNodes();
  const nodes = data?.nodes ?? [];
  const columns = useColumns(new Set(nodes.map(({ version }) => version)).size > 1);
  const isAlone = nodes.length < 2 && !error;
  if (isAlone) return null;
  return (
    <section className="card stack" aria-labelledby="nodes">
      <div className="row">
        <h2 id="nodes">{t("operate.nodes.list")}</h2>
        <div className="grow" />
        <CopyAs method={listNodes} request={request} />
      </div>
      <p className="muted">{t("operate.nodes.lead")}</p>
      <Table
        label={t("operate.nodes.list")}
        list={{ rows: data?.nodes, error, onRetry: () => void refetch() }}
        columns={columns}
        keyOf={({ nodeId }) => nodeId}
        empty={null}
      />
    </section>
  );
}

function useColumns(isMixed: boolean): Column<Node>[] {
  const { t } = useTexts();
  return [
    {
      title: t("operate.node"),
      cell: ({ hostName, nodeId, current }) => (
        <div className="lines">
          <span>
            <bdi>{hostName}</bdi> {current && <span className="muted">{t("operate.nodes.current")}</span>}
          </span>
          <code className="muted small">{nodeId}</code>
        </div>
      ),
    },
    { title: t("operate.state"), cell: (node) => <State node={node} /> },
    {
      title: t("operate.version"),
      cell: ({ version }) => (isMixed ? <strong>{version}</strong> : version),
    },
    { title: t("operate.nodes.processes"), cell: ({ workerCount }) => workerCount, isWide: true },
    {
      title: t("operate.nodes.started"),
      cell: ({ startTime }) => startTime && <Ago time={timestampDate(startTime)} />,
    },
  ];
}

function State({ node: { state, lastSeenTime } }: { readonly node: Node }) {
  const { t } = useTexts();
  if (state === Node_State.RUNNING)
    return (
      <Pill tone="good" icon="check-circle-fill">
        {t("operate.nodes.runs")}
      </Pill>
    );
  return (
    <Pill tone="critical" icon="x-circle-fill">
      {t("operate.nodes.lastSeen")} {lastSeenTime && <Ago time={timestampDate(lastSeenTime)} />}
    </Pill>
  );
}
