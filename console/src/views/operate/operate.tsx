// The installation, for its operators: is it healthy, what signs its tokens, who is signed in?

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { type Installation, OperateService } from "../../../../gen/gatehouse/operate/v1/operate_pb.ts";
import { isOperator, useMe } from "../../api/access.ts";
import { Icon } from "../../shell/icon.tsx";
import { PageHead, Verdict } from "../../shell/look.tsx";
import { Ago, Loading } from "../../shell/parts.tsx";
import { Failure } from "../../shell/states.tsx";
import tileStyles from "../../shell/tiles.module.css";
import { useTexts } from "../../texts/texts.ts";
import { Nodes, NodesTile } from "./nodes.tsx";
import { Sessions } from "./sessions.tsx";
import { SigningKeys } from "./signing-keys.tsx";
import { Tile } from "./tile.tsx";

/** The view. */
export function Operate() {
  const { t } = useTexts();
  const { data: me } = useMe();
  return (
    <div className="stack">
      <PageHead title={t("operate.title")}>
        <nav className="row" aria-label={t("operate.links")}>
          <a href="/readyz">{t("operate.health")}</a>
          <a href="/metrics">{t("operate.metrics")}</a>
          <a href="/docs/operate/monitor">{t("operate.guide")}</a>
        </nav>
      </PageHead>
      {!me && <Loading />}
      {me && !isOperator(me) && <p className="notice warn">{t("operate.closed")}</p>}
      {me && isOperator(me) && (
        <>
          <Health />
          <Nodes />
          <SigningKeys />
          <Sessions />
        </>
      )}
    </div>
  );
}

function Health() {
  const { data, error, refetch } = useQuery(OperateService.method.getInstallation, {});
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading lines={3} />;
  return (
    <>
      {Boolean(error) && <Failure error={error} onRetry={() => void refetch()} />}
      <Tiles installation={data} />
      <Limits met={data.limitsMet} />
    </>
  );
}

function Tiles({ installation }: { readonly installation: Installation }) {
  const { t } = useTexts();
  const { version, nodeVersion, baseUrl, startTime, workerCount, database } = installation;
  const isReady = database?.problem === "";
  return (
    <div className={`${tileStyles.tiles} ${tileStyles.wide}`}>
      <Tile title={t("operate.version")} value={version}>
        <span className="lines">
          <span>Node {nodeVersion}</span>
          <span>{baseUrl}</span>
        </span>
      </Tile>
      <Tile title={t("operate.process")} value={t("operate.processes", { count: workerCount })}>
        {startTime && (
          <>
            {t("operate.started")} <Ago time={timestampDate(startTime)} />
          </>
        )}
      </Tile>
      <NodesTile />
      <Tile title={t("operate.database")} value={`${database?.product ?? ""} ${database?.version.split(" ")[0] ?? ""}`}>
        {sizeText(Number(database?.sizeBytes ?? 0))}{" "}
        <Verdict isGood={isReady}>{isReady ? t("operate.ready") : database?.problem}</Verdict>
      </Tile>
    </div>
  );
}

/** Limits that were never met say nothing. */
function Limits({ met }: { readonly met: Installation["limitsMet"] }) {
  const { t, locale } = useTexts();
  const rows = Object.entries(met).filter(([, count]) => count > 0n);
  return (
    <section className="card stack" aria-labelledby="limits">
      <h2 id="limits">{t("operate.limits")}</h2>
      {rows.length === 0 ? (
        <p>
          <Verdict isGood>{t("operate.noLimits", { count: Object.keys(met).length })}</Verdict>
        </p>
      ) : (
        <dl className="facts">
          {rows.map(([name, count]) => (
            <div key={name} className="contents">
              <dt>{name}</dt>
              <dd>
                <span className="warning">
                  <Icon name="alert" />
                </span>{" "}
                {new Intl.NumberFormat(locale).format(count)}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

function sizeText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  return `${(bytes / 1000 ** power).toPrecision(3)} ${units[power]}`;
}
