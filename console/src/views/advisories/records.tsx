// Texts, affected versions and references of an advisory, from its sources.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import type { Advisory } from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import {
  type AdvisoryRecord,
  AdvisoryRecordsService,
  type ProductStatement,
  RangeEventType,
  RecordView,
} from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { parentOf } from "../../api/uids.ts";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { Ago, Loading } from "../../shell/parts.tsx";
import { ProductPill } from "../../shell/product-pill.tsx";
import { Failure } from "../../shell/states.tsx";
import { Table } from "../../shell/table.tsx";
import { useTexts } from "../../texts/texts.ts";
import styles from "./advisories.module.css";

const { listAdvisoryRecords } = AdvisoryRecordsService.method;
const Markdown = lazyPart(async () => (await import("../../shell/markdown.tsx")).Markdown, <Loading />);

/** How many records are read. */
const shownRecords = 20;

/** The records of the document that has the id of the advisory, in its group. */
export function Records({ advisory: { uid, advisoryId } }: { readonly advisory: Advisory }) {
  const { data: me } = useMe();
  const parent = parentOf(uid);
  const request = { parent, document: advisoryId, view: RecordView.FULL, pageSize: shownRecords };
  const { data, error, refetch } = useQuery(listAdvisoryRecords, request, {
    enabled: may(me, listAdvisoryRecords, parent),
  });
  if (error) return <Failure error={error} onRetry={() => void refetch()} />;
  const records = data?.records ?? [];
  if (records.length === 0) return null;
  return (
    <>
      {records.map((record) => (
        <Said key={`${record.source} ${record.vulnerability}`} record={record} />
      ))}
      <Affected records={records} advisoryId={advisoryId} />
      <References records={records} />
    </>
  );
}

function Said({ record }: { readonly record: AdvisoryRecord }) {
  const { t } = useTexts();
  const { source, summary, details, publishTime, modifyTime, withdrawTime } = record;
  const times = [
    ["published", publishTime],
    ["changed", modifyTime],
    ["withdrawnAt", withdrawTime],
  ] as const;
  return (
    <section className="card stack" aria-label={t("advisories.saidBy", { source })}>
      {summary !== "" && (
        <h2>
          <bdi>{summary}</bdi>
        </h2>
      )}
      <p className="muted small">
        {times.map(
          ([name, time]) =>
            time && (
              <span key={name}>
                {t(`advisories.${name}`)} <Ago time={timestampDate(time)} />
                {" · "}
              </span>
            ),
        )}
        <bdi>{t("advisories.saidBy", { source })}</bdi>
      </p>
      {details !== "" && <Markdown text={details} />}
    </section>
  );
}

interface Line {
  readonly source: string;
  readonly statement: ProductStatement;
  readonly key: string;
}

function Affected({
  records,
  advisoryId,
}: {
  readonly records: readonly AdvisoryRecord[];
  readonly advisoryId: string;
}) {
  const { t } = useTexts();
  const lines = records.flatMap(({ source, statements }) =>
    statements
      .filter((statement) => statement.advisoryId === "" || statement.advisoryId === advisoryId)
      .map((statement, i): Line => ({ source, statement, key: `${source} ${i}` })),
  );
  return (
    <Table
      label={t("advisories.affected")}
      list={{ rows: lines }}
      columns={[
        { title: t("advisories.source"), cell: ({ source }) => <bdi>{source}</bdi> },
        { title: t("advisories.package"), cell: ({ statement }) => <bdi>{productOf(statement)}</bdi> },
        {
          title: t("advisories.versions"),
          cell: ({ statement }) => <bdi>{versionsOf(statement) || t("advisories.allVersions")}</bdi>,
        },
        { title: t("advisories.status"), cell: ({ statement }) => <ProductPill status={statement.status} /> },
      ]}
      keyOf={({ key }) => key}
      empty={<p className="muted">{t("advisories.noVersions")}</p>}
    />
  );
}

function productOf({ product, release }: ProductStatement): string {
  const name = product?.name || product?.purl || product?.cpe || "–";
  return release === "" ? name : `${name} · ${release}`;
}

const signs: Readonly<Record<number, string>> = {
  [RangeEventType.INTRODUCED]: "≥",
  [RangeEventType.FIXED]: "<",
  [RangeEventType.LAST_AFFECTED]: "≤",
  [RangeEventType.LIMIT]: "<",
};

/** Returns the versions that a statement names, as "≥ 0 < 1.3.0, 2.0". */
function versionsOf({ ranges, versions }: ProductStatement): string {
  const spans = ranges.map(({ events }) =>
    events.map(({ type, version }) => `${signs[type] ?? ""} ${version}`).join(" "),
  );
  const shown = versions.slice(0, 20);
  return [...spans, ...shown, ...(versions.length > shown.length ? ["…"] : [])].join(", ");
}

function References({ records }: { readonly records: readonly AdvisoryRecord[] }) {
  const { t } = useTexts();
  const known = new Map(records.flatMap(({ references }) => references).map((one) => [one.url, one]));
  const byType = Map.groupBy(known.values(), ({ type }) => type);
  if (known.size === 0) return null;
  return (
    <section className="card stack" aria-labelledby="advisory-references">
      <h2 id="advisory-references">{t("advisories.references")}</h2>
      {[...byType].map(([type, references]) => (
        <div key={type}>
          <h3 className={styles.kind}>
            <bdi>{type || t("advisories.otherReferences")}</bdi>
          </h3>
          <ul>
            {references.map(({ url, summary }) => (
              <li key={url}>
                {/^https?:\/\//i.test(url) ? (
                  <a href={url} target="_blank" rel="noopener noreferrer nofollow">
                    <bdi>{summary || url}</bdi>
                  </a>
                ) : (
                  <bdi>{summary || url}</bdi>
                )}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}
