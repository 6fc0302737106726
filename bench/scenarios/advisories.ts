// Lists of advisories under each filter, beside the list without one: filters are to cost no more than twice as much.
import type { AdvisoryData } from "../advisory-data.ts";
import type { Gatehouse } from "../gatehouse.ts";
import { loadHttp1 } from "../load.ts";
import type { Scenario } from "../scenario.ts";

/** Few enough that searches for different texts, one after the other, keep nobody waiting for seconds. */
const connections = 8;
const unfiltered = "advisories REST 30k";

/** A page of 50 with its total, without a filter and with each alone. Ratios are to the one without. */
export function advisoryScenarios(gatehouse: Gatehouse, { queries }: AdvisoryData): Scenario[] {
  const { port, authorization } = gatehouse;
  const scenario = (name: string, asked: readonly string[], baseline?: string): Scenario => {
    const paths = asked.map((query) => ["/vulnerabilities/v2beta1/advisories?pageSize=50", query].join("&"));
    const requests = paths.map((path) => ({ method: "GET", path }));
    const load = { port, connections, headers: { authorization }, requests };
    const compared = { comparison: "advisories", ...(baseline ? { baseline } : {}) };
    return { name, server: gatehouse, ...compared, load: (seconds) => loadHttp1(load, seconds) };
  };
  return [
    scenario(unfiltered, ["orderBy=uid"]),
    ...Object.entries(queries).map(([filter, asked]) => scenario(`advisories by ${filter}`, asked, unfiltered)),
  ];
}
