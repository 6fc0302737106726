// All advisories of a group in the format of a scanner: GET /gatehouse/vulnerabilities/v1/exports/GROUP_UID/FORMAT.json.
import { ecosystemProblem } from "../advisories/ecosystems.ts";
import { type ExportFormat, exportedAdvisories, exportFormats } from "../advisories/exported.ts";
import { writerOf } from "../advisories/writers.ts";
import { invalidField, notFound, resourceExhausted } from "../aip/errors.ts";
import { decodeSegment, parseOptions } from "./export-request.ts";
import type { FeedInput, ParseFeed } from "./feed.ts";

/** The path prefix of exports. */
export const exportsPath = "/gatehouse/vulnerabilities/v1/exports/";

/** Makes the parser of the requests. `gatheredAdvisories` limits the advisories that an export keeps in memory. */
export function formatFeeds({ gatheredAdvisories }: { readonly gatheredAdvisories: number }): ParseFeed {
  return (path, query) => {
    const rest = path.slice(exportsPath.length);
    const slash = rest.lastIndexOf("/");
    const format = exportFormats.find((each) => rest.slice(slash + 1) === `${each}.json`);
    if (slash < 0 || !format) throw notFound("vulnerabilities.gatehouse/Export", rest);
    const group = decodeSegment(rest.slice(0, slash), "parent");
    const options = parseOptions(query);
    // Other formats name no ecosystem; they use the value as the name of a distribution.
    const problem = format === "osv" ? ecosystemProblem(options.ecosystem) : "";
    if (problem !== "") throw invalidField("ecosystem", problem);
    const isGathered = gathered.includes(format);
    return {
      group,
      format,
      description: { group, format, options },
      contentType: "application/json",
      slot: isGathered ? "gathered" : "streamed",
      write({ source, time, losses }: FeedInput) {
        const onKept = newCounter(gatheredAdvisories);
        const all = exportedAdvisories(source, format);
        const advisories = isGathered ? counted(all, onKept) : all;
        return writerOf(format)(advisories, { ...options, id: group, time, onKept }, losses);
      },
    };
  };
}

/** CSAF has one entry for each CVE, secdb one for each package, so all advisories are collected first. */
const gathered: readonly ExportFormat[] = ["csaf", "secdb"];

/** Makes a function that throws when it is called more than `most` times. */
function newCounter(most: number): () => void {
  let count = 0;
  return () => {
    if (++count > most)
      throw resourceExhausted(`the format takes ${most} advisories; export groups below, or use the command line`);
  };
}

async function* counted<T>(items: AsyncIterable<T>, onEach: () => void): AsyncGenerator<T> {
  for await (const item of items) {
    onEach();
    yield item;
  }
}
