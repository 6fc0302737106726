// Advisories are not written by callers: they come from a feed, a generator or a test.
import { toJson } from "@bufbuild/protobuf";
import {
  type Advisory,
  type AdvisoryEvent,
  AdvisoryEventSchema,
  EventTypeFilter,
  ReviewState,
} from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { insertAdvisoryEvent } from "../../storage/advisories.ts";
import { insertRow } from "../../storage/collection.ts";
import type { Transaction } from "../../storage/session.ts";
import { newChild } from "../../uid.ts";
import { fromTimestamp, toTimestamp } from "../timestamps.ts";
import { type AdvisoryRow, advisoryCollection } from "./rows.ts";

const eventTypes: Readonly<Record<string, EventTypeFilter>> = {
  detection: EventTypeFilter.DETECTION,
  truePositiveDetermination: EventTypeFilter.TRUE_POSITIVE_DETERMINATION,
  fixed: EventTypeFilter.FIXED,
  falsePositiveDetermination: EventTypeFilter.FALSE_POSITIVE_DETERMINATION,
  analysisNotPlanned: EventTypeFilter.ANALYSIS_NOT_PLANNED,
  fixNotPlanned: EventTypeFilter.FIX_NOT_PLANNED,
  pendingUpstreamFix: EventTypeFilter.PENDING_UPSTREAM_FIX,
  patched: EventTypeFilter.PATCHED,
};

/**
 * Adds an advisory with its events below a group, and answers its uid. Uids are made; times that are absent are those of
 * the transaction. `origin` is the package that the artifact is built from.
 */
export async function insertAdvisory(
  tx: Transaction,
  parent: string,
  advisory: Advisory,
  origin: string = advisory.artifactName,
): Promise<string> {
  const { time } = tx.context;
  const createTime = advisory.createTime ? fromTimestamp(advisory.createTime) : time;
  const events = advisory.events
    .map((event) => ({ event, at: event.createTime ? fromTimestamp(event.createTime) : createTime }))
    .sort((a, b) => a.at - b.at);
  const uid = newChild(parent);
  const times = { createTime, updateTime: advisory.updateTime ? fromTimestamp(advisory.updateTime) : createTime };
  await insertRow(tx, advisoryCollection, { ...rowOf(advisory, origin), uid, parent, ...times });
  for (const { event, at } of events) {
    const { author, reviewer, reviewState } = event;
    const stored = toJson(AdvisoryEventSchema, { ...event, uid: "", createTime: toTimestamp(at) });
    const own = { uid: newChild(uid), advisoryUid: uid, createTime: at };
    await insertAdvisoryEvent(tx, { ...own, author, reviewer, reviewState, type: typeOf(event), event: stored });
  }
  return uid;
}

function rowOf(advisory: Advisory, origin: string): Omit<AdvisoryRow, "uid" | "parent" | "createTime" | "updateTime"> {
  const { author, artifactName, artifactType, artifactArchitecture, aliases } = advisory;
  const { componentName, componentType, componentLocation, severities } = advisory;
  return {
    name: advisory.advisoryId,
    legacyAdvisoryId: advisory.legacyAdvisoryId ?? "",
    ...{ author, artifactName, artifactType, artifactArchitecture, aliases, origin },
    ...{ componentName, componentType, componentLocation },
    severities: severities.map(({ type, score }) => ({ type, score })),
    latestEventType: latestTypeOf(advisory.events),
    searchText: [artifactName, componentName, ...aliases].join("\n").toLowerCase(),
  };
}

/** The state of an advisory is its latest approved event; of two at once, the later in the list. */
function latestTypeOf(events: readonly AdvisoryEvent[]): EventTypeFilter {
  let latest: AdvisoryEvent | undefined;
  for (const event of events) {
    if (event.reviewState === ReviewState.APPROVED && !(latest && timeOf(event) < timeOf(latest))) latest = event;
  }
  return latest ? typeOf(latest) : EventTypeFilter.UNSPECIFIED;
}

function timeOf({ createTime }: AdvisoryEvent): number {
  return createTime ? fromTimestamp(createTime) : Number.NEGATIVE_INFINITY;
}

function typeOf({ type }: AdvisoryEvent): EventTypeFilter {
  return eventTypes[type.case ?? ""] ?? EventTypeFilter.UNSPECIFIED;
}
