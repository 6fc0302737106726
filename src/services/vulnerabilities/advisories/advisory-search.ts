// Lists advisories in the order in which people look at them: by score, by publication, by change.
import { create } from "@bufbuild/protobuf";
import {
  AdvisorySearchService,
  FoundAdvisorySchema,
  type SearchAdvisoriesRequest,
} from "../../../../gen/gatehouse/vulnerabilities/v1/search_pb.ts";
import { invalidField } from "../../../aip/errors.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { scopeOf } from "../../../pipeline/authorize.ts";
import { expensive } from "../../../pipeline/expensive.ts";
import { type Handlers, type Implementation, implement } from "../../../pipeline/handlers.ts";
import { listPage } from "../../../resource/list-page.ts";
import { selectSources } from "../../../resource/selection.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import type { SortField } from "../../../storage/list/list-rows.ts";
import { advisoryLimits } from "../limits.ts";
import { advisory, advisoryMessages, withEvents } from "./advisories.ts";
import { scoreColumns } from "./advisory-scores.ts";
import { checkTriage, triageOf } from "./triage.ts";

/** The fields that `order_by` accepts: words, and the names of fields. */
const orderable = {
  uid: "uid",
  score: "score",
  published: "publishTime",
  publish_time: "publishTime",
  changed: "updateTime",
  update_time: "updateTime",
  package: "artifactName",
  artifact_name: "artifactName",
} as const satisfies Record<string, SortField>;

const found = { ...advisory, orderable };

/** Serves the search. */
export function advisorySearch(context: ServiceContext): Implementation {
  const handlers: Handlers<typeof AdvisorySearchService> = {
    searchAdvisories: expensive(async (request, call) => {
      checkTriage(request);
      checkSkip(request);
      const sources = selectSources(scopeOf(call), request.list?.uidp, {
        includesGranted: false,
        includesRoots: false,
      });
      const selection = { sources, filters: {}, condition: triageOf(request) };
      const page = await listPage(found, context, { call, request, selection, makeItems: withEvents });
      const messages = advisoryMessages(page.items);
      const results = page.items.map(({ row }, i) => {
        const { score, publishTime } = scoreColumns(row);
        const known = score < 0 ? {} : { score: score / 10 };
        return create(FoundAdvisorySchema, { advisory: messages[i]!, publishTime: toTimestamp(publishTime), ...known });
      });
      return { ...page, results };
    }, isUnindexed),
  };
  return implement(AdvisorySearchService, handlers);
}

/** Throws if sorting what a search skips would keep the database busy. The order by publication has an index, as that by uid. */
function checkSkip({ orderBy, skip }: SearchAdvisoriesRequest): void {
  const { sortedSkip } = advisoryLimits;
  if (skip > sortedSkip && !/^\s*($|uid|publish)/.test(orderBy))
    throw invalidField(
      "skip",
      `must be at most ${sortedSkip} in this order; narrow the list, or order it by "published"`,
    );
}

/** Returns whether a search tests texts, or sorts all advisories of a place by what no index has together with its filters. */
function isUnindexed({ list, orderBy }: SearchAdvisoriesRequest): boolean {
  return (list?.query ?? "") !== "" || /package|artifact_name|changed|update_time/.test(orderBy);
}
