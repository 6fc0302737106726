// The findings of an image: the advisories about its packages.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { Checkbox } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import {
  CheckState,
  ImageContentsService,
  type ImageFinding,
  type VulnerabilitySeverity,
} from "../../../../gen/gatehouse/registry/v1/image_contents_pb.ts";
import { ProductStatus } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { holdsAt, useMe } from "../../api/access.ts";
import { type Column, timeCell } from "../../shell/columns.ts";
import filterStyles from "../../shell/filters.module.css";
import { Empty } from "../../shell/look.tsx";
import { Ago, CopyAs } from "../../shell/parts.tsx";
import { ProductPill } from "../../shell/product-pill.tsx";
import { SelectField } from "../../shell/select-field.tsx";
import { byPages, ShowMore } from "../../shell/show-more.tsx";
import { Table } from "../../shell/table.tsx";
import { useTexts } from "../../texts/texts.ts";
import { type RegistrySearch, severities, useRegistryAddress } from "./address.ts";
import { Completeness, NoSbom } from "./completeness.tsx";
import { refetchMs } from "./pending.ts";
import { SeverityCounts, SeverityPill } from "./severity.tsx";
import type { ShownImage } from "./shown-image.ts";

const { listImageFindings } = ImageContentsService.method;

/** All statuses. Without them the server lists open findings. */
const allStatuses = [
  ProductStatus.AFFECTED,
  ProductStatus.UNDER_INVESTIGATION,
  ProductStatus.NOT_AFFECTED,
  ProductStatus.FIXED,
];

/** The findings, the most severe first. */
export function ImageFindings({ image }: { readonly image: ShownImage }) {
  const { t } = useTexts();
  const { search } = useRegistryAddress();
  const request = requestOf(image, search);
  const query = useInfiniteQuery(
    listImageFindings,
    { ...request, pageToken: "" },
    { ...byPages, refetchInterval: ({ state }) => refetchMs(state.data?.pages[0]?.state) },
  );
  const { data, error, refetch } = query;
  const columns = useColumns();
  const first = data?.pages[0];
  if (first?.state === CheckState.UNKNOWN) return <NoSbom image={image} />;
  const isFiltered = search.least !== undefined || search.fixed !== undefined;
  return (
    <section className="stack" aria-label={t("images.findings")}>
      <div className={filterStyles.filters}>
        <Filters repoUid={image.repo.uid} />
        <div className="grow" />
        <CopyAs method={listImageFindings} request={request} />
      </div>
      {first && (
        <>
          <p className="row tight" role="status">
            <SeverityCounts counts={first.counts} state={isFiltered ? CheckState.UNSPECIFIED : first.state} />
          </p>
          <Completeness known={first} image={image} />
        </>
      )}
      <Table
        label={t("images.findings")}
        list={{ rows: data?.pages.flatMap(({ findings }) => findings), error, onRetry: () => void refetch() }}
        columns={columns}
        keyOf={({ advisoryUid, purl, status }) => `${advisoryUid} ${purl} ${status}`}
        empty={<Empty>{t(emptyText(isFiltered, first?.state))}</Empty>}
      />
      <ShowMore query={query} text={t("images.more")} />
    </section>
  );
}

function emptyText(isFiltered: boolean, state: CheckState | undefined) {
  if (isFiltered) return "images.noMatch";
  return state === CheckState.PENDING ? "images.notYet" : "images.noFindings";
}

function requestOf({ repo, digest }: ShownImage, { least, fixed, settled }: RegistrySearch) {
  return {
    repoUid: repo.uid,
    digest,
    ...(least !== undefined && { minSeverity: (severities.indexOf(least) + 1) as VulnerabilitySeverity }),
    ...(fixed !== undefined && { fixable: true }),
    ...(settled !== undefined && { statuses: allStatuses }),
  };
}

function Filters({ repoUid }: { readonly repoUid: string }) {
  const { t } = useTexts();
  const { search, open } = useRegistryAddress();
  const textOf = (value: (typeof severities)[number]) => {
    const severity = t(`advisories.rating.${value}`);
    return value === "critical" ? severity : t("images.orAbove", { severity });
  };
  const choices = severities.toReversed().map((value) => ({ value, text: textOf(value) }));
  return (
    <>
      <SelectField
        label={t("images.least")}
        value={search.least ?? ""}
        choices={[{ value: "", text: t("images.anySeverity") }, ...choices]}
        onChange={(value) => void open(repoUid, { least: severities.find((one) => one === value) })}
      />
      <Checkbox
        label={t("images.fixable")}
        checked={search.fixed !== undefined}
        onChange={({ currentTarget: { checked } }) => void open(repoUid, { fixed: checked ? "known" : undefined })}
      />
      <Checkbox
        label={t("images.settled")}
        checked={search.settled !== undefined}
        onChange={({ currentTarget: { checked } }) => void open(repoUid, { settled: checked ? "too" : undefined })}
      />
    </>
  );
}

function useColumns(): Column<ImageFinding>[] {
  const { t } = useTexts();
  return [
    {
      title: t("images.vulnerability"),
      text: ({ vulnerability }) => vulnerability,
      cell: (finding) => <Vulnerability finding={finding} />,
    },
    {
      title: t("advisories.severity"),
      cell: ({ severity }) => <SeverityPill severity={severity} />,
    },
    {
      title: t("advisories.package"),
      text: ({ purl }) => purl,
      cell: ({ purl }) => <bdi>{purl}</bdi>,
    },
    {
      title: t("advisories.fixedIn"),
      text: ({ fixedVersions }) => fixedVersions.join(", "),
      cell: ({ fixedVersions }) => <bdi>{fixedVersions.join(", ") || "–"}</bdi>,
    },
    {
      title: t("advisories.status"),
      cell: (finding) => <Status finding={finding} />,
    },
    {
      title: t("images.known"),
      isWide: true,
      text: ({ firstKnownTime }) => timeCell(firstKnownTime),
      cell: ({ firstKnownTime }) => firstKnownTime && <Ago time={timestampDate(firstKnownTime)} />,
    },
  ];
}

function Vulnerability({ finding }: { readonly finding: ImageFinding }) {
  const { data: me } = useMe();
  const { org } = useRegistryAddress();
  const { advisoryUid, vulnerability, aliases } = finding;
  return (
    <div className="lines">
      {holdsAt(me, "advisories.list", advisoryUid) ? (
        <Link to="/o/$org/advisories/$" params={{ org, _splat: advisoryUid }}>
          <bdi>{vulnerability}</bdi>
        </Link>
      ) : (
        <bdi>{vulnerability}</bdi>
      )}
      <bdi className="muted small">{aliases.slice(0, 3).join(", ")}</bdi>
    </div>
  );
}

/** The status, with the statement about the image that it is from. */
function Status({ finding }: { readonly finding: ImageFinding }) {
  const { t } = useTexts();
  const { status, uncertain, justification, imageStatement } = finding;
  return (
    <div className="lines">
      <ProductPill status={status} />
      {uncertain && <span className="muted small">{t("images.uncertain")}</span>}
      {justification !== "" && <bdi className="muted small">{justification}</bdi>}
      {imageStatement !== "" && <bdi className="muted small">{t("images.statement", { record: imageStatement })}</bdi>}
    </div>
  );
}
