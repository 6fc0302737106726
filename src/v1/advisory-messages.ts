// Advisories and events in the words of version 1. It has one type of events that is not of today, so that what is stored is
// converted, and not what today's methods show.
import { create, fromJson, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import {
  type Advisory,
  type AdvisoryEvent,
  AdvisoryEvent_ComponentLocationChangedSchema,
  AdvisoryEventSchema,
  AdvisorySchema,
} from "../../gen/chainguard/platform/vulnerabilities/v1/advisories_pb.ts";
import {
  AdvisoryEventSchema as AdvisoryEventToday,
  AdvisorySchema as AdvisoryToday,
} from "../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { advisoryMessage } from "../services/vulnerabilities/advisories/advisories.ts";
import type { AdvisoryFields } from "../services/vulnerabilities/advisories/advisory-fields.ts";
import type { AdvisoryState } from "../services/vulnerabilities/advisories/advisory-state.ts";
import { contentOf, type EventContent, locationChanged } from "../services/vulnerabilities/advisories/event-content.ts";
import type { NewAdvisory } from "../services/vulnerabilities/advisories/write-advisory.ts";
import type { AdvisoryEventRow } from "../storage/vulnerabilities/advisories.ts";
import { correspond } from "./fields.ts";

/** What fields of version 1 are called today. */
const names = {
  legacyAdvisoryID: "legacy_advisory_id",
  deleted_at: "delete_time",
  "AdvisoryEvent.timestamp": "create_time",
  "AdvisoryEvent.status": "review_state",
  "AdvisoryEvent.component_location_changed": "",
  "ScanV1.subpackage_name": "subpackage",
  "ScanV1.component_name": "component",
};

const advisories = correspond(AdvisorySchema, AdvisoryToday, names);
const events = correspond(AdvisoryEventSchema, AdvisoryEventToday, names);

/** An advisory and its events as a message. */
export function toAdvisory({ row, events: rows }: AdvisoryState): Advisory {
  const shown = advisories.toV1(create(AdvisoryToday, advisoryMessage(row, [])));
  // What may be absent here is empty today.
  for (const name of ["componentName", "componentType", "componentLocation"] as const)
    if (shown[name] === "") delete shown[name];
  return { ...shown, events: rows.map(toEvent) };
}

/** A stored event as a message. */
export function toEvent({ uid, type, event }: AdvisoryEventRow): AdvisoryEvent {
  const shown = events.toV1(fromJson(AdvisoryEventToday, event as JsonValue, { ignoreUnknownFields: true }));
  if (type !== locationChanged) return { ...shown, id: uid };
  const { componentLocationChanged } = event as JsonObject;
  const value = fromJson(AdvisoryEvent_ComponentLocationChangedSchema, componentLocationChanged!);
  return { ...shown, id: uid, type: { case: "componentLocationChanged", value } };
}

/** What an event says. */
export function toContent(event: AdvisoryEvent): EventContent {
  const content = contentOf(events.toNow(event));
  if (event.type.case !== "componentLocationChanged") return content;
  const componentLocationChanged = toJson(AdvisoryEvent_ComponentLocationChangedSchema, event.type.value);
  return { ...content, type: locationChanged, said: { ...content.said, componentLocationChanged } };
}

/** What a request says of a new advisory. */
export function toNewAdvisory(advisory: Advisory): NewAdvisory {
  const { advisoryId, legacyAdvisoryID: legacyAdvisoryId = "", events: said } = advisory;
  return { ...toFields(advisory), advisoryId, legacyAdvisoryId, events: said.map(toContent) };
}

/** What a request says of an advisory that is there: its ids and its events are not replaced. */
export function toFields(advisory: Advisory): AdvisoryFields {
  const { author, artifactName, artifactType, artifactArchitecture, aliases } = advisory;
  const { componentName = "", componentType = "", componentLocation = "" } = advisory;
  return {
    ...{ author, artifactName, artifactType, artifactArchitecture, aliases },
    ...{ componentName, componentType, componentLocation },
  };
}
