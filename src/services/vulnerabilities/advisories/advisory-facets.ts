// Counts advisories by the values of filters.
import { create } from "@bufbuild/protobuf";
import {
  EventTypeFilter,
  EventTypeFilterSchema,
  type ListAdvisoriesRequest,
  ListAdvisoriesRequestSchema,
} from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { AdvisoryFacetsService } from "../../../../gen/gatehouse/vulnerabilities/v1/facets_pb.ts";
import { newViolations } from "../../../aip/violations.ts";
import { scopeOf } from "../../../pipeline/authorize.ts";
import { allExpensive } from "../../../pipeline/expensive.ts";
import { type Handlers, type Implementation, implement } from "../../../pipeline/handlers.ts";
import { selectSources } from "../../../resource/selection.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import type { CountedColumn } from "../../../storage/list/count-values.ts";
import { advisoryCollection } from "../../../storage/vulnerabilities/rows.ts";
import { advisoryLimits } from "../limits.ts";
import { conditionOf } from "./advisories.ts";

interface Facet {
  readonly counted: CountedColumn;
  /** The filter's fields for "any value". */
  readonly unset: Partial<ListAdvisoriesRequest>;
  /** The value as a request has it. */
  readonly shown?: (value: string) => string;
}

/** The facets by their filter. */
const facets: Readonly<Record<string, Facet>> = {
  latest_event_type: {
    counted: { name: "latest_event_type", column: ({ advisories }) => advisories.latestEventType, none: 0 },
    unset: { latestEventType: EventTypeFilter.UNSPECIFIED },
    shown: eventTypeName,
  },
  artifact_names: {
    counted: { name: "artifact_name", column: ({ advisories }) => advisories.artifactName, none: "" },
    // An origin stands for the names of its artifacts.
    unset: { artifactNames: [], origin: "" },
  },
  artifact_types: {
    counted: { name: "artifact_type", column: ({ advisories }) => advisories.artifactType, none: "" },
    unset: { artifactTypes: [] },
  },
  component_types: {
    counted: { name: "component_type", column: ({ advisories }) => advisories.componentType, none: "" },
    unset: { componentTypes: [] },
  },
  event_reviewers: {
    counted: {
      name: "event_reviewer",
      column: ({ advisoryEvents }) => advisoryEvents.reviewer,
      side: ({ advisoryEvents }) => ({ table: advisoryEvents, uid: advisoryEvents.advisoryUid }),
      none: "",
    },
    unset: { eventReviewers: [] },
  },
};

/** Serves the counts. */
export function advisoryFacets({ database }: ServiceContext): Implementation {
  const handlers: Handlers<typeof AdvisoryFacetsService> = {
    async countAdvisories({ list = create(ListAdvisoriesRequestSchema) }, call) {
      refuseNegative(list);
      const sources = selectSources(scopeOf(call), list.uidp, { includesGranted: false, includesRoots: false });
      const found = [];
      for (const [filter, { counted, unset, shown = (value: string) => value }] of Object.entries(facets)) {
        const condition = conditionOf({ ...list, ...unset });
        const query = { sources, filters: {}, condition, counted, maxRows: advisoryLimits.countedRows };
        const { values, isPartial: partial } = await database.lists.values(advisoryCollection, query);
        const first = values.slice(0, advisoryLimits.facetValues);
        const named = first.map(({ value, count }) => ({ value: shown(value), count: BigInt(count) }));
        found.push({ filter, values: named, partial });
      }
      return { facets: found };
    },
  };
  return implement(AdvisoryFacetsService, allExpensive(handlers));
}

/** The page of the list does not count, but what its document forbids is rejected here too. */
function refuseNegative({ pageSize, skip }: ListAdvisoriesRequest): void {
  const violations = newViolations();
  for (const [field, value] of Object.entries({ "list.page_size": pageSize, "list.skip": skip }))
    if (value < 0) violations.add(field, "must not be negative");
  violations.throwIfAny();
}

/** Version 1 has one more event type, which no filter of version 2 finds. */
function eventTypeName(value: string): string {
  return EventTypeFilterSchema.values.find(({ number }) => number === Number(value))?.name ?? value;
}
