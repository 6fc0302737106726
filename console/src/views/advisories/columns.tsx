import { Link } from "@tanstack/react-router";
import type { Advisory } from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { Pill } from "../../shell/look.tsx";
import type { Column } from "../../shell/table.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useAdvisoryAddress } from "./address.ts";
import { severityOf } from "./severity.ts";
import { fixedIn, latestApproved, StatusOf } from "./status.tsx";

/** The columns of a list of advisories. */
export function useColumns(): Column<Advisory>[] {
  const { t } = useTexts();
  const { org, search } = useAdvisoryAddress();
  return [
    {
      title: t("advisories.advisory"),
      cell: ({ uid, advisoryId, aliases }) => (
        <div className="lines">
          <Link to="/o/$org/advisories/$" params={{ org, _splat: uid }} search={search}>
            <bdi>{advisoryId}</bdi>
          </Link>
          <bdi className="muted small">{aliases.slice(0, 3).join(", ")}</bdi>
        </div>
      ),
    },
    {
      title: t("advisories.package"),
      cell: ({ artifactName, componentName }) => (
        <div className="lines">
          <bdi>{artifactName}</bdi>
          {componentName !== "" && componentName !== artifactName && (
            <bdi className="muted small">{t("advisories.in", { component: componentName })}</bdi>
          )}
        </div>
      ),
    },
    { title: t("advisories.severity"), cell: (advisory) => <Severity advisory={advisory} /> },
    { title: t("advisories.status"), cell: (advisory) => <StatusOf event={latestApproved(advisory)} /> },
    { title: t("advisories.fixedIn"), cell: (advisory) => <bdi>{fixedIn(latestApproved(advisory)) || "–"}</bdi> },
  ];
}

function Severity({ advisory }: { readonly advisory: Advisory }) {
  const { t } = useTexts();
  const found = severityOf(advisory);
  if (!found) return <span className="muted">–</span>;
  const { score, rating } = found;
  const tone = rating === "none" ? "neutral" : rating;
  return <Pill tone={tone}>{`${t(`advisories.rating.${rating}`)} ${score.toFixed(1)}`}</Pill>;
}
