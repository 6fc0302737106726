import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Link } from "@tanstack/react-router";
import type { FoundAdvisory } from "../../../../gen/gatehouse/vulnerabilities/v1/search_pb.ts";
import { type Column, timeCell } from "../../shell/columns.ts";
import { Ago } from "../../shell/parts.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useAdvisoryAddress } from "./address.ts";
import { SeverityPill } from "./severity.tsx";
import { fixedIn, latestApproved, StatusOf, statusText } from "./status.tsx";

/** The columns of a list of advisories. */
export function useColumns(): Column<FoundAdvisory>[] {
  const { t } = useTexts();
  const { org, search } = useAdvisoryAddress();
  return [
    {
      title: t("advisories.advisory"),
      text: ({ advisory }) => advisory?.advisoryId ?? "",
      cell: ({ advisory }) => (
        <div className="lines">
          <Link to="/o/$org/advisories/$" params={{ org, _splat: advisory?.uid ?? "" }} search={search}>
            <bdi className="nowrap">{advisory?.advisoryId}</bdi>
          </Link>
          <bdi className="muted small">{advisory?.aliases.slice(0, 3).join(", ")}</bdi>
        </div>
      ),
    },
    {
      id: "package",
      title: t("advisories.package"),
      text: ({ advisory }) => advisory?.artifactName ?? "",
      sort: "package",
      cell: ({ advisory }) => (
        <div className="lines">
          <bdi>{advisory?.artifactName}</bdi>
          {advisory && advisory.componentName !== "" && advisory.componentName !== advisory.artifactName && (
            <bdi className="muted small">{t("advisories.in", { component: advisory.componentName })}</bdi>
          )}
        </div>
      ),
    },
    {
      id: "severity",
      title: t("advisories.severity"),
      text: ({ score }) => score?.toString() ?? "",
      sort: "score desc",
      cell: ({ score }) => (score === undefined ? <span className="muted">–</span> : <SeverityPill score={score} />),
    },
    {
      id: "status",
      title: t("advisories.status"),
      text: ({ advisory }) => statusText(t, advisory && latestApproved(advisory)),
      cell: ({ advisory }) => <StatusOf event={advisory && latestApproved(advisory)} />,
    },
    {
      id: "fixedIn",
      title: t("advisories.fixedIn"),
      text: ({ advisory }) => fixedIn(advisory && latestApproved(advisory)),
      isWide: true,
      cell: ({ advisory }) => <bdi>{fixedIn(advisory && latestApproved(advisory)) || "–"}</bdi>,
    },
    {
      id: "published",
      title: t("advisories.published"),
      text: ({ publishTime }) => timeCell(publishTime),
      sort: "published desc",
      cell: ({ publishTime }) => publishTime && <Ago time={timestampDate(publishTime)} />,
    },
    {
      id: "changed",
      title: t("advisories.changed"),
      text: ({ advisory }) => timeCell(advisory?.updateTime),
      sort: "changed desc",
      isExtra: true,
      cell: ({ advisory }) => advisory?.updateTime && <Ago time={timestampDate(advisory.updateTime)} />,
    },
  ];
}
