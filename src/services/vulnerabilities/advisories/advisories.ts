import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  AdvisoriesService,
  AdvisorySchema,
  type ListAdvisoriesRequest,
  ListAdvisoriesRequestSchema,
  type Severity_Type,
} from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { notFound } from "../../../aip/errors.ts";
import { countFitting, defaultPageSize } from "../../../aip/pagination.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { freezeLike, memoizeFrozen } from "../../../base/memoize-frozen.ts";
import type { Call } from "../../../pipeline/call.ts";
import { expensive } from "../../../pipeline/expensive.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import type { MessageRules } from "../../../pipeline/text-rules.ts";
import { readMethods } from "../../../resource/read-methods.ts";
import { commonOrders, defineReadableResource } from "../../../resource/resource.ts";
import { rowView } from "../../../resource/row-view.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import {
  type AdvisoryEventRow,
  advisoryCondition,
  findAdvisoryEvents,
  findDeletedAdvisory,
} from "../../../storage/vulnerabilities/advisories.ts";
import { type AdvisoryRow, advisoryCollection } from "../../../storage/vulnerabilities/rows.ts";
import { type AdvisoryState, advisoryType, type LoggedState, stateOf } from "./advisory-state.ts";
import { eventMessage, locationChanged } from "./event-content.ts";

/** Advisories as a resource. */
export const advisory = defineReadableResource<typeof AdvisorySchema, AdvisoryRow>({
  schema: AdvisorySchema,
  plural: "advisories",
  collection: advisoryCollection,
  orderable: { ...commonOrders, advisory_id: "name", advisoryId: "name", aliases: "aliasText" },
  toMessage: (row) => ({
    uid: row.uid,
    advisoryId: row.name,
    ...(row.legacyAdvisoryId === "" ? {} : { legacyAdvisoryId: row.legacyAdvisoryId }),
    author: row.author,
    artifactName: row.artifactName,
    artifactType: row.artifactType,
    artifactArchitecture: row.artifactArchitecture,
    componentName: row.componentName,
    componentType: row.componentType,
    componentLocation: row.componentLocation,
    aliases: row.aliases,
    severities: row.severities.map(({ type, score }) => ({ type: type as Severity_Type, score })),
    createTime: toTimestamp(row.createTime),
    updateTime: toTimestamp(row.updateTime),
  }),
});

/** The rules of the list filters. Version 1 has one more event type. */
const listRules: MessageRules = {
  schema: ListAdvisoriesRequestSchema,
  fields: {},
  nameless: { event_types: [locationChanged], latest_event_type: [locationChanged] },
};

/** For how many advisories events are read at once: those of a usual page. */
const batchSize = defaultPageSize;

/** Makes the functions that list advisories in stored form. Each version of the API converts their events itself. */
export function advisoryLister(context: ServiceContext) {
  const { page, reply } = readMethods(advisory, context);
  return {
    /** Returns a page of advisories with their events; frozen if it is cached. */
    list: (request: ListAdvisoriesRequest, call: Call) => page(request, call, {}, conditionOf(request), withEvents),
    reply,
  };
}

/** Whether a list searches texts, or sorts all advisories of a place by their aliases: no index answers these. */
function searchesOrSorts({ query, orderBy }: ListAdvisoriesRequest): boolean {
  return query !== "" || orderBy.includes("aliases");
}

/** Serves advisories, each with its events. */
export function advisories(context: ServiceContext): Implementation {
  const { list, reply } = advisoryLister(context);
  return implement(
    AdvisoriesService,
    {
      getAdvisory: ({ uid }) => context.database.read((session) => readAdvisory(session, uid)),

      listAdvisories: expensive(async (request, call) => {
        const { items, ...envelope } = await list(request, call);
        return reply(call, advisoryMessages(items), envelope);
      }, searchesOrSorts),
    },
    [listRules],
  );
}

/** Reads an advisory with its events. A deleted one can still be read by its uid, and has a delete time. */
async function readAdvisory(session: Session, uid: string): Promise<MessageInitShape<typeof AdvisorySchema>> {
  const row = await findRow(session, advisoryCollection, uid);
  if (row) return advisoryMessage(row, (await stateOf(session, row)).events);
  const deleted = await findDeletedAdvisory(session, uid);
  if (!deleted) throw notFound(advisoryType, uid);
  const shown = advisoryMessage(deleted.advisory as AdvisoryRow, deleted.events as AdvisoryEventRow[]);
  return { ...shown, deleteTime: toTimestamp(deleted.deleteTime) };
}

/** Returns the condition of the filters of a list. */
export function conditionOf(request: ListAdvisoriesRequest) {
  const isSet = (number: number) => number !== 0;
  return advisoryCondition({
    advisoryIds: request.advisoryIds,
    legacyAdvisoryIds: request.legacyAdvisoryIds,
    // Published contract: an origin matches all of its artifacts.
    artifactNames: request.origin ? [] : request.artifactNames,
    origins: request.origin ? [request.origin] : [],
    artifactTypes: request.artifactTypes,
    artifactArchitectures: request.artifactArchitectures,
    componentNames: request.componentNames,
    componentTypes: request.componentTypes,
    componentLocations: request.componentLocations,
    aliases: request.aliases,
    eventAuthors: request.eventAuthors,
    eventReviewers: request.eventReviewers,
    eventReviewStates: request.eventReviewStates.filter(isSet),
    eventTypes: request.eventTypes.filter(isSet),
    latestEventTypes: [request.latestEventType ?? 0].filter(isSet),
    excludeEventAuthors: request.excludeEventAuthors,
    products: [],
    query: request.query.toLowerCase(),
  });
}

const lastStates = memoizeFrozen((_rows: readonly AdvisoryRow[]): { known?: readonly AdvisoryState[] } => ({}));

/**
 * Returns as many advisories of a page with their events as fit. Memoized for cached pages: events are written only together with
 * their advisory, which invalidates the page (advisory-state.ts).
 */
export async function withEvents(session: Session, rows: readonly AdvisoryRow[]): Promise<readonly AdvisoryState[]> {
  const states = lastStates(rows);
  states.known ??= freezeLike(rows, await readFitting(session, rows));
  return states.known;
}

async function readFitting(session: Session, rows: readonly AdvisoryRow[]): Promise<AdvisoryState[]> {
  const states: AdvisoryState[] = [];
  for (let i = 0; i < rows.length; i += batchSize) {
    states.push(...(await readStates(session, rows.slice(i, i + batchSize))));
    const fitting = countFitting(states);
    if (fitting < states.length) return states.slice(0, fitting);
  }
  return states;
}

/** Reads the events of all given advisories at once: all, or those that were written with the API. */
export async function readStates(
  session: Session,
  rows: readonly AdvisoryRow[],
  which: "all" | "written" = "all",
): Promise<AdvisoryState[]> {
  const uids = rows.map(({ uid }) => uid);
  const events = await findAdvisoryEvents(session, uids, which);
  const byAdvisory = Map.groupBy(events, ({ advisoryUid }) => advisoryUid);
  return rows.map((row) => ({ row, events: byAdvisory.get(row.uid) ?? [] }));
}

/** Converts the advisories of a page to messages; the same ones for a cached page. */
export const advisoryMessages = memoizeFrozen((states: readonly AdvisoryState[]) =>
  freezeLike(
    states,
    states.map(({ row, events }) => create(AdvisorySchema, advisoryMessage(row, events))),
  ),
);

/** Shows advisories in the audit log. The change log contains only the event that is the status; entries of old versions have none. */
export const advisoryView = rowView(
  { collection: advisoryCollection, schema: AdvisorySchema },
  (row: AdvisoryRow & Partial<LoggedState>) => advisoryMessage(row, row.events ?? []),
);

/** Converts an advisory and its events to a message. */
export function advisoryMessage(row: AdvisoryRow, events: readonly AdvisoryEventRow[]) {
  const shown = events.map(eventMessage).filter((event) => event !== undefined);
  return { ...advisory.toMessage(row), events: shown } as MessageInitShape<typeof AdvisorySchema>;
}
