// One advisory: what happened, who says so, and what else there is on the same vulnerability.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { Advisories as Advisories1 } from "../../../../gen/chainguard/platform/vulnerabilities/v1/advisories_pb.ts";
import {
  AdvisoriesService,
  type Advisory,
  type AdvisoryEvent,
  ReviewState,
} from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { AdvisorySearchService } from "../../../../gen/gatehouse/vulnerabilities/v1/search_pb.ts";
import { may, missingFor, useMe } from "../../api/access.ts";
import { useNamed } from "../../api/naming.ts";
import { parentOf, shortUid } from "../../api/uids.ts";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { PageHead } from "../../shell/look.tsx";
import { ActionButton, Ago, CopyAs, Copyable, Loading } from "../../shell/parts.tsx";
import { UnreadPage } from "../../shell/states.tsx";
import { Table } from "../../shell/table.tsx";
import timelineStyles from "../../shell/timeline.module.css";
import { useTexts } from "../../texts/texts.ts";
import { useAdvisoryAddress } from "./address.ts";
import styles from "./advisories.module.css";
import { useColumns } from "./columns.tsx";
import { Records } from "./records.tsx";
import { SeverityCard } from "./severity.tsx";
import { fixedIn, isFinal, latestApproved, noteOf, StatusOf } from "./status.tsx";

const { getAdvisory } = AdvisoriesService.method;
const { searchAdvisories } = AdvisorySearchService.method;
const EditAdvisory = lazyPart(async () => (await import("./advisory-form.tsx")).EditAdvisory);
const DeleteAdvisory = lazyPart(async () => (await import("./advisory-form.tsx")).DeleteAdvisory);
const NewEvent = lazyPart(async () => (await import("./event-form.tsx")).NewEvent);
const ReviewEvent = lazyPart(async () => (await import("./event-form.tsx")).ReviewEvent);

const AffectedImages = lazyPart(
  async () => (await import("./affected-images.tsx")).AffectedImages,
  <Loading />,
  "images",
  "registry",
);

/** How many other advisories of the vulnerability are shown. */
const shownOthers = 20;

/** The selected advisory. */
export function AdvisoryDetails({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  const { org, search } = useAdvisoryAddress();
  const { data: me } = useMe();
  const mayGet = may(me, getAdvisory, uid);
  const { data, error, refetch } = useQuery(getAdvisory, { uid }, { enabled: mayGet });
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
        <UnreadPage method={getAdvisory} uid={uid} error={error} onRetry={() => void refetch()} />
      )}
    </>
  );
}

function Content({ advisory }: { readonly advisory: Advisory }) {
  const { t } = useTexts();
  const { uid, advisoryId, deleteTime } = advisory;
  return (
    <>
      <PageHead title={<bdi>{advisoryId}</bdi>} beside={<StatusOf event={latestApproved(advisory)} />}>
        <CopyAs method={getAdvisory} request={{ uid }} />
        {!deleteTime && <Actions uid={uid} />}
      </PageHead>
      {deleteTime && (
        <p className="notice warn">
          {t("advisories.withdrawn")} <Ago time={timestampDate(deleteTime)} />
        </p>
      )}
      <div className={styles.page}>
        <div>
          <Records advisory={advisory} />
          {!deleteTime && <AffectedImages advisoryUid={uid} />}
          <Events advisory={advisory} />
          <Others advisory={advisory} />
        </div>
        <div>
          <Severity advisory={advisory} />
          <section className="card" aria-label={t("advisories.facts")}>
            <Facts advisory={advisory} />
          </section>
        </div>
      </div>
      {!deleteTime && <AdvisoryDialogs advisory={advisory} />}
    </>
  );
}

/** The score is that of the server, which only the search tells; deleted advisories are not found. */
function Severity({ advisory: { uid, severities } }: { readonly advisory: Advisory }) {
  const { data } = useQuery(searchAdvisories, { list: { uidp: { ids: [uid] } } });
  return <SeverityCard score={data?.results[0]?.score} vectors={severities.map(({ score }) => score)} />;
}

function Events({ advisory: { events, deleteTime } }: { readonly advisory: Advisory }) {
  const { t } = useTexts();
  return (
    <section className="card stack" aria-labelledby="advisory-events">
      <h2 id="advisory-events">{t("advisories.events")}</h2>
      {events.length === 0 && <p className="muted">{t("advisories.noEvents")}</p>}
      <ol className={timelineStyles.timeline}>
        {events.toReversed().map((event) => (
          <Event key={event.uid} event={event} isDeleted={deleteTime !== undefined} />
        ))}
      </ol>
    </section>
  );
}

function Actions({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { change } = useAdvisoryAddress();
  const { createAdvisoryEvent, update, delete: remove } = Advisories1.method;
  return (
    <>
      <ActionButton
        variant="filled"
        missing={missingFor(me, createAdvisoryEvent, uid)}
        onClick={() => void change({ dialog: "event" })}
      >
        {t("advisories.newEvent")}
      </ActionButton>
      <ActionButton shortcut="e" missing={missingFor(me, update, uid)} onClick={() => void change({ dialog: "edit" })}>
        {t("advisories.edit")}
      </ActionButton>
      <ActionButton
        shortcut="Delete"
        missing={missingFor(me, remove, uid)}
        onClick={() => void change({ dialog: "delete" })}
      >
        {t("advisories.delete")}
      </ActionButton>
    </>
  );
}

/** The dialog that is in the address. */
function AdvisoryDialogs({ advisory }: { readonly advisory: Advisory }) {
  const { data: me } = useMe();
  const { search } = useAdvisoryAddress();
  const { createAdvisoryEvent, updateAdvisoryEvent, update, delete: remove } = Advisories1.method;
  const { uid } = advisory;
  if (search.dialog === "edit" && may(me, update, uid)) return <EditAdvisory advisory={advisory} />;
  if (search.dialog === "delete" && may(me, remove, uid)) return <DeleteAdvisory advisory={advisory} />;
  if (search.dialog === "event" && may(me, createAdvisoryEvent, uid)) return <NewEvent advisory={advisory} />;
  const event = advisory.events.find((one) => one.uid === search.event);
  if (search.dialog === "review" && event && !isFinal(event) && may(me, updateAdvisoryEvent, uid))
    return <ReviewEvent advisory={advisory} event={event} />;
  return null;
}

function Facts({ advisory }: { readonly advisory: Advisory }) {
  const { t } = useTexts();
  const { org } = useAdvisoryAddress();
  const { uid, aliases } = advisory;
  const group = parentOf(uid);
  const groupName = useNamed([group])(group);
  const facts: readonly (readonly [string, string])[] = [
    [t("advisories.package"), joined(advisory.artifactName, advisory.artifactType, advisory.artifactArchitecture)],
    [t("advisories.component"), joined(advisory.componentName, advisory.componentType, advisory.componentLocation)],
    [t("advisories.fixedIn"), fixedIn(latestApproved(advisory))],
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

function Event({ event, isDeleted }: { readonly event: AdvisoryEvent; readonly isDeleted: boolean }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { change } = useAdvisoryAddress();
  const { createTime, author, reviewer, reviewState } = event;
  const version = fixedIn(event);
  const note = noteOf(event);
  return (
    <li className={timelineStyles.moment}>
      <div className="lines">
        <span>
          <StatusOf event={event} /> {version !== "" && <bdi>{t("advisories.inVersion", { version })}</bdi>}{" "}
          {reviewState !== ReviewState.APPROVED && (
            <span className="warning">({t(`advisories.review.${reviewState as 0 | 1 | 3 | 4}`)})</span>
          )}
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
        {!isFinal(event) && !isDeleted && (
          <div>
            <ActionButton
              missing={missingFor(me, Advisories1.method.updateAdvisoryEvent, event.uid)}
              onClick={() => void change({ dialog: "review", event: event.uid })}
            >
              {t("advisories.reviewEvent")}
            </ActionButton>
          </div>
        )}
      </div>
    </li>
  );
}

/** The other advisories on the same vulnerability. */
function Others({ advisory: { uid, advisoryId, aliases } }: { readonly advisory: Advisory }) {
  const { t } = useTexts();
  const { org } = useAdvisoryAddress();
  const ids = (aliases.length > 0 ? aliases : [advisoryId]).slice(0, 100);
  const request = { list: { uidp: { descendantsOf: org }, aliases: ids }, pageSize: shownOthers + 1 };
  const { data, error } = useQuery(searchAdvisories, request);
  const others = data?.results.filter((one) => one.advisory?.uid !== uid).slice(0, shownOthers);
  return (
    <section className="stack part" aria-labelledby="advisory-others">
      <h2 id="advisory-others">{t("advisories.others")}</h2>
      <Table
        label={t("advisories.others")}
        list={{ rows: others, error }}
        columns={useColumns()}
        keyOf={(one) => one.advisory?.uid ?? ""}
        empty={<p className="muted">{t("advisories.noOthers")}</p>}
      />
    </section>
  );
}
