// Converts stored advisories and events to messages of version 1. One of its event types does not exist in the current API, so
// rows are converted and not current messages.
import { create, fromJson, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import {
  type Advisory,
  type AdvisoryEvent,
  AdvisoryEvent_ComponentLocationChangedSchema,
  AdvisoryEventSchema,
  AdvisorySchema,
} from "../../gen/chainguard/platform/vulnerabilities/v1/advisories_pb.ts";
import {
  AdvisoryEventSchema as CurrentAdvisoryEventSchema,
  AdvisorySchema as CurrentAdvisorySchema,
} from "../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { advisoryMessage } from "../services/vulnerabilities/advisories/advisories.ts";
import type { AdvisoryFields } from "../services/vulnerabilities/advisories/advisory-fields.ts";
import type { AdvisoryState } from "../services/vulnerabilities/advisories/advisory-state.ts";
import { contentOf, type EventContent, locationChanged } from "../services/vulnerabilities/advisories/event-content.ts";
import type { NewAdvisory } from "../services/vulnerabilities/advisories/write-advisory.ts";
import type { AdvisoryEventRow } from "../storage/vulnerabilities/advisories.ts";
import { mapMessages } from "./fields.ts";

/** Current names of fields of version 1. */
const names = {
  legacyAdvisoryID: "legacy_advisory_id",
  deleted_at: "delete_time",
  "AdvisoryEvent.timestamp": "create_time",
  "AdvisoryEvent.status": "review_state",
  "AdvisoryEvent.component_location_changed": "",
  "ScanV1.subpackage_name": "subpackage",
  "ScanV1.component_name": "component",
};

const advisories = mapMessages(AdvisorySchema, CurrentAdvisorySchema, names);
const events = mapMessages(AdvisoryEventSchema, CurrentAdvisoryEventSchema, names);

/** Converts an advisory and its events to a message. */
export function toAdvisory({ row, events: rows }: AdvisoryState): Advisory {
  const shown = advisories.toV1(create(CurrentAdvisorySchema, advisoryMessage(row, [])));
  // These fields are optional in version 1, and empty in the current message.
  for (const name of ["componentName", "componentType", "componentLocation"] as const)
    if (shown[name] === "") delete shown[name];
  return { ...shown, events: rows.map(toEvent) };
}

/** Converts a stored event to a message. */
export function toEvent({ uid, type, event }: AdvisoryEventRow): AdvisoryEvent {
  const shown = events.toV1(fromJson(CurrentAdvisoryEventSchema, event as JsonValue, { ignoreUnknownFields: true }));
  if (type !== locationChanged) return { ...shown, id: uid };
  const { componentLocationChanged } = event as JsonObject;
  const value = fromJson(AdvisoryEvent_ComponentLocationChangedSchema, componentLocationChanged!);
  return { ...shown, id: uid, type: { case: "componentLocationChanged", value } };
}

/** Converts an event message to its content. */
export function toContent(event: AdvisoryEvent): EventContent {
  const content = contentOf(events.toCurrent(event));
  if (event.type.case !== "componentLocationChanged") return content;
  const componentLocationChanged = toJson(AdvisoryEvent_ComponentLocationChangedSchema, event.type.value);
  return { ...content, type: locationChanged, said: { ...content.said, componentLocationChanged } };
}

/** Converts the request of a new advisory. */
export function toNewAdvisory(advisory: Advisory): NewAdvisory {
  const { advisoryId, legacyAdvisoryID: legacyAdvisoryId = "", events: said } = advisory;
  return { ...toFields(advisory), advisoryId, legacyAdvisoryId, events: said.map(toContent) };
}

/** Returns the fields that an update replaces: all except ids and events. */
export function toFields(advisory: Advisory): AdvisoryFields {
  const { author, artifactName, artifactType, artifactArchitecture, aliases } = advisory;
  const { componentName = "", componentType = "", componentLocation = "" } = advisory;
  return {
    author,
    artifactName,
    artifactType,
    artifactArchitecture,
    aliases,
    componentName,
    componentType,
    componentLocation,
  };
}
