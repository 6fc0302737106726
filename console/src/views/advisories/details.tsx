// One advisory: what happened, who says so, and what else there is on the same vulnerability.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import {
  AdvisoriesService,
  type Advisory,
  type AdvisoryEvent,
  ReviewState,
} from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { useNames } from "../../api/resources.ts";
import { parentOf, shortUid } from "../../api/uids.ts";
import { Ago, CopyAs, Copyable, Heading, Loading } from "../../shell/parts.tsx";
import { Failure } from "../../shell/states.tsx";
import { Table } from "../../shell/table.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useAdvisoryAddress } from "./address.ts";
import { useColumns } from "./advisories.tsx";
import { fixedIn, latestApproved, noteOf, StatusOf } from "./status.tsx";

const { getAdvisory, listAdvisories } = AdvisoriesService.method;

/** How many other advisories of the vulnerability are shown. */
const shownOthers = 20;

/** The selected advisory. */
export function AdvisoryDetails({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  const { org, search } = useAdvisoryAddress();
  const { data, error, refetch } = useQuery(getAdvisory, { uid });
  return (
    <>
      <nav className="path" aria-label={t("advisories.path")}>
        <Link to="/o/$org/advisories/$" params={{ org, _splat: "" }} search={search}>
          {t("advisories.title")}
        </Link>
      </nav>
      {data ? (
        <Content advisory={data} />
      ) : (
        <>
          <Heading>{t("advisories.title")}</Heading>
          {error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading />}
        </>
      )}
    </>
  );
}

function Content({ advisory }: { readonly advisory: Advisory }) {
  const { t } = useTexts();
  const { uid, advisoryId, deleteTime, events } = advisory;
  return (
    <>
      <div className="head">
        <Heading>
          <bdi>{advisoryId}</bdi>
        </Heading>
        <StatusOf event={latestApproved(advisory)} />
        <div className="grow" />
        <CopyAs method={getAdvisory} request={{ uid }} />
      </div>
      {deleteTime && (
        <p className="notice warn">
          {t("advisories.withdrawn")} <Ago time={timestampDate(deleteTime)} />
        </p>
      )}
      <Facts advisory={advisory} />
      <section className="stack part" aria-labelledby="advisory-events">
        <h2 id="advisory-events">{t("advisories.events")}</h2>
        {events.length === 0 && <p className="muted">{t("advisories.noEvents")}</p>}
        <ol className="timeline">
          {events.toReversed().map((event) => (
            <Event key={event.uid} event={event} />
          ))}
        </ol>
      </section>
      <Others advisory={advisory} />
    </>
  );
}

function Facts({ advisory }: { readonly advisory: Advisory }) {
  const { t } = useTexts();
  const { org } = useAdvisoryAddress();
  const { uid, aliases, severities } = advisory;
  const group = parentOf(uid);
  const groupName = useNames("group", [group]).get(group) ?? shortUid(group);
  const facts: readonly (readonly [string, string])[] = [
    [t("advisories.package"), joined(advisory.artifactName, advisory.artifactType, advisory.artifactArchitecture)],
    [t("advisories.component"), joined(advisory.componentName, advisory.componentType, advisory.componentLocation)],
    [t("advisories.fixedIn"), fixedIn(latestApproved(advisory))],
    [t("advisories.severity"), severities.map(({ score }) => score).join(", ")],
    [t("advisories.author"), advisory.author],
  ];
  return (
    <dl className="facts">
      <dt>{t("advisories.aliases")}</dt>
      <dd>
        <bdi>{aliases.join(", ") || "–"}</bdi>
      </dd>
      {facts
        .filter(([, value]) => value !== "")
        .map(([title, value]) => (
          <div key={title} className="contents">
            <dt>{title}</dt>
            <dd>
              <bdi>{value}</bdi>
            </dd>
          </div>
        ))}
      <dt>{t("advisories.group")}</dt>
      <dd>
        <Link to="/o/$org/groups/$" params={{ org, _splat: group }}>
          <bdi>{groupName}</bdi>
        </Link>
      </dd>
      <dt>{t("advisories.uid")}</dt>
      <dd>
        <Copyable value={uid} shown={shortUid(uid)} what={t("advisories.uid")} />
      </dd>
    </dl>
  );
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(" · ");
}

function Event({ event }: { readonly event: AdvisoryEvent }) {
  const { t } = useTexts();
  const { createTime, author, reviewer, reviewState } = event;
  const version = fixedIn(event);
  const note = noteOf(event);
  return (
    <li className="moment">
      <div className="lines">
        <span>
          <StatusOf event={event} /> {version !== "" && <bdi>{t("advisories.inVersion", { version })}</bdi>}{" "}
          {reviewState !== ReviewState.APPROVED && <span className="warning">({t("advisories.notApproved")})</span>}
        </span>
        {note !== "" && <bdi>{note}</bdi>}
        <span className="muted small">
          {createTime && <Ago time={timestampDate(createTime)} />} · <bdi>{author}</bdi>
          {reviewer !== "" && (
            <>
              {" · "}
              <bdi>{t("advisories.reviewedBy", { name: reviewer })}</bdi>
            </>
          )}
        </span>
      </div>
    </li>
  );
}

/** The other advisories on the same vulnerability. */
function Others({ advisory: { uid, advisoryId, aliases } }: { readonly advisory: Advisory }) {
  const { t } = useTexts();
  const { org } = useAdvisoryAddress();
  const ids = (aliases.length > 0 ? aliases : [advisoryId]).slice(0, 100);
  const request = { uidp: { descendantsOf: org }, aliases: ids, pageSize: shownOthers + 1 };
  const { data, error } = useQuery(listAdvisories, request);
  const others = data?.advisories.filter((one) => one.uid !== uid).slice(0, shownOthers);
  return (
    <section className="stack part" aria-labelledby="advisory-others">
      <h2 id="advisory-others">{t("advisories.others")}</h2>
      <Table
        label={t("advisories.others")}
        list={{ rows: others, error }}
        columns={useColumns()}
        keyOf={(one) => one.uid}
        empty={<p className="muted">{t("advisories.noOthers")}</p>}
      />
    </section>
  );
}
