// Counts advisories by the values of filters.
import {
  EventTypeFilter,
  EventTypeFilterSchema,
  type ListAdvisoriesRequest,
} from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { AdvisoryFacetsService } from "../../../../gen/gatehouse/vulnerabilities/v1/facets_pb.ts";
import { AdvisorySeveritySchema } from "../../../../gen/gatehouse/vulnerabilities/v1/search_pb.ts";
import { scopeOf } from "../../../pipeline/authorize.ts";
import { allExpensive } from "../../../pipeline/expensive.ts";
import { type Handlers, type Implementation, implement } from "../../../pipeline/handlers.ts";
import { selectSources } from "../../../resource/selection.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import type { CountedColumn } from "../../../storage/list/count-values.ts";
import { advisoryCollection } from "../../../storage/vulnerabilities/rows.ts";
import { advisoryLimits } from "../limits.ts";
import { checkTriage, severityOf, type TriageRequest, triageOf } from "./triage.ts";

interface Facet {
  readonly counted: CountedColumn;
  /** The filter's fields for "any value": those of the list, and of the request. */
  readonly unset: Partial<ListAdvisoriesRequest>;
  readonly unsetHere?: Partial<TriageRequest>;
  /** The value as a request has it. */
  readonly shown?: (value: string) => string;
}

/** The facets by their filter. */
const facets: Readonly<Record<string, Facet>> = {
  severities: {
    // No score is -2: all are counted.
    counted: { name: "score", column: ({ advisories }) => advisories.score, none: -2 },
    unset: {},
    unsetHere: { severities: [] },
    shown: severityName,
  },
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
    async countAdvisories(request, call) {
      checkTriage(request);
      const { list } = request;
      const sources = selectSources(scopeOf(call), list?.uidp, { includesGranted: false, includesRoots: false });
      const found = [];
      for (const [filter, { counted, unset, unsetHere, shown = (value: string) => value }] of Object.entries(facets)) {
        const condition = triageOf({ ...request, ...unsetHere, list: list && { ...list, ...unset } });
        const query = { sources, filters: {}, condition, counted, maxRows: advisoryLimits.countedRows };
        const { values, isPartial: partial } = await database.lists.values(advisoryCollection, query);
        const counts = new Map<string, number>();
        for (const { value, count } of values) counts.set(shown(value), (counts.get(shown(value)) ?? 0) + count);
        const sorted = [...counts].sort(([, a], [, b]) => b - a).slice(0, advisoryLimits.facetValues);
        found.push({ filter, values: sorted.map(([value, count]) => ({ value, count: BigInt(count) })), partial });
      }
      return { facets: found };
    },
  };
  return implement(AdvisoryFacetsService, allExpensive(handlers));
}

/** Returns the name of the severity of a score in tenths. */
function severityName(score: string): string {
  return AdvisorySeveritySchema.value[severityOf(Number(score))]!.name;
}

/** Version 1 has one more event type, which no filter of version 2 finds. */
function eventTypeName(value: string): string {
  return EventTypeFilterSchema.values.find(({ number }) => number === Number(value))?.name ?? value;
}
