// Lists of advisories under each filter, next to the list without one. A filter may take at most twice as long.
import type { AdvisoryData } from "../advisory-data.ts";
import type { Gatehouse } from "../gatehouse.ts";
import { resumedHttp1 } from "../load.ts";
import type { Scenario } from "../scenario.ts";

/** Few enough that searches for different texts, one after the other, keep nobody waiting for seconds. */
const connections = 8;
const unfiltered = "advisories REST 30k";
/** Filters that are served like another one, by the same terms: their figures would say the same again. */
const alike = new Set([
  "legacy_advisory_ids",
  "artifact_architectures",
  "component_types",
  "component_locations",
  "event_reviewers",
  "event_review_states",
  "event_types",
  "latest_event_type",
]);
/** Those of a quick run: a filter whose results are cached, one whose are not, and searches that were not made before. */
const quick = new Set(["component_names", "artifact_names", "query, few, each new", "query, many, each new"]);

/**
 * Returns a page of 50 with its total, without a filter and with each alone. Ratios are to the one without, which a server of its own
 * answers: what the filters read would displace from memory, slice by slice, what it reads.
 */
export function advisoryScenarios(filtering: Gatehouse, plain: Gatehouse, { queries }: AdvisoryData): Scenario[] {
  const scenario = (name: string, asked: readonly string[], baseline?: string): Scenario => {
    const gatehouse = baseline === undefined ? plain : filtering;
    const { port, authorization } = gatehouse;
    const paths = asked.map((query) => ["/vulnerabilities/v2beta1/advisories?pageSize=50", query].join("&"));
    const requests = paths.map((path) => ({ method: "GET", path }));
    const load = { port, connections, headers: { authorization }, requests };
    const compared = { comparison: "advisories", ...(baseline ? { baseline } : {}) };
    return { name, server: gatehouse, ...compared, load: resumedHttp1(load) };
  };
  return [
    scenario(unfiltered, ["orderBy=uid"]),
    ...Object.entries(queries)
      .filter(([filter]) => !alike.has(filter))
      .map(([filter, asked]) => ({
        ...scenario(`advisories by ${filter}`, asked, unfiltered),
        isOnlyInFullRuns: !quick.has(filter),
      })),
  ];
}
