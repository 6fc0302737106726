// The values of the filters, with the number of advisories that each of them gives.
import type { DescEnum } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { EventTypeFilterSchema } from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { type AdvisoryFacet, AdvisoryFacetsService } from "../../../../gen/gatehouse/vulnerabilities/v1/facets_pb.ts";
import { AdvisorySeveritySchema } from "../../../../gen/gatehouse/vulnerabilities/v1/search_pb.ts";
import { Chips } from "../../shell/chips.tsx";
import { Loading } from "../../shell/parts.tsx";
import { Failure } from "../../shell/states.tsx";
import { type Texts, useTexts } from "../../texts/texts.ts";
import { type AdvisorySearch, requestOf, severities, statuses, useAdvisoryAddress } from "./address.ts";
import styles from "./facets.module.css";

const { countAdvisories } = AdvisoryFacetsService.method;

/** The parameter of the address for each filter of the API. */
const parameters = {
  severities: "severity",
  latest_event_type: "status",
  artifact_names: "package",
  artifact_types: "type",
  component_types: "component",
  event_reviewers: "reviewer",
} as const satisfies Record<string, keyof AdvisorySearch>;

type Parameter = (typeof parameters)[keyof typeof parameters];

/** The filters. A second choice of a value removes it. */
export function Facets() {
  const { t } = useTexts();
  const { org, search } = useAdvisoryAddress();
  const { data, error } = useQuery(countAdvisories, requestOf(org, search), {
    placeholderData: (before) => before,
    staleTime: 60_000,
    refetchInterval: 120_000,
  });
  if (error && !data) return <Failure error={error} />;
  return (
    <section className="stack" aria-label={t("advisories.filters")}>
      {!data && <Loading />}
      {data?.facets.map((facet) => {
        const parameter = parameters[facet.filter as keyof typeof parameters];
        return parameter && facet.values.length > 0 ? (
          <Facet key={facet.filter} facet={facet} parameter={parameter} />
        ) : null;
      })}
    </section>
  );
}

/** The chosen values, each with a button that removes it. */
export function FacetChips({ onClear }: { readonly onClear: () => void }) {
  const { t } = useTexts();
  const { search, open } = useAdvisoryAddress();
  const chips = Object.values(parameters).flatMap((parameter) => {
    const value = search[parameter];
    const onRemove = () => void open("", { [parameter]: undefined, page: undefined });
    return value === undefined
      ? []
      : [{ label: t(`advisories.facet.${parameter}`), value: textOf(t, parameter, value), onRemove }];
  });
  return <Chips chips={chips} onClear={onClear} />;
}

function Facet({ facet, parameter }: { readonly facet: AdvisoryFacet; readonly parameter: Parameter }) {
  const { t, locale } = useTexts();
  const { search, open } = useAdvisoryAddress();
  const numbers = new Intl.NumberFormat(locale);
  // On a narrow screen the results come first.
  const isOpen = search[parameter] !== undefined || matchMedia("(min-width: 1200px)").matches;
  return (
    <details open={isOpen}>
      <summary>{t(`advisories.facet.${parameter}`)}</summary>
      {facet.partial && <p className="muted small">{t("advisories.partial")}</p>}
      <ul className={styles.facet}>
        {facet.values.map(({ value, count }) => {
          const shown = shownAs(parameter, value);
          const isChosen = search[parameter] === shown;
          const text = shown === undefined ? value : textOf(t, parameter, shown);
          return shown === undefined ? null : (
            <li key={value}>
              <button
                type="button"
                aria-pressed={isChosen}
                onClick={() => void open("", { [parameter]: isChosen ? undefined : shown, page: undefined })}
              >
                <bdi>{text}</bdi> <span className="muted">{numbers.format(count)}</span>
              </button>
            </li>
          );
        })}
      </ul>
    </details>
  );
}

/** Returns the value that the address has for one of the API. */
function shownAs(parameter: Parameter, name: string): string | undefined {
  const numberIn = ({ values }: DescEnum) => values.find((value) => value.name === name)?.number ?? 0;
  if (parameter === "status") return statuses[numberIn(EventTypeFilterSchema) - 1];
  return parameter === "severity" ? severities[numberIn(AdvisorySeveritySchema) - 1] : name;
}

function textOf(t: Texts, parameter: Parameter, shown: string): string {
  if (parameter === "status") return t(`advisories.status.${shown as "fixed"}`);
  return parameter === "severity" ? t(`advisories.rating.${shown as "high"}`) : shown;
}
