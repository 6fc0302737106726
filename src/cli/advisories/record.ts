// Advisories as the formats make them, ready to be sent.
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type AdvisoryEventSchema,
  ReviewState,
  type SeveritySchema,
} from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import {
  type ImportedAdvisory,
  ImportedAdvisorySchema,
} from "../../../gen/gatehouse/vulnerabilities/v1/advisory_import_pb.ts";
import { toTimestamp } from "../../aip/timestamps.ts";

/** An event as its message is made. */
export type EventInit = MessageInitShape<typeof AdvisoryEventSchema>;

/** What an event says. */
export type EventType = NonNullable<EventInit["type"]>;

/** A severity as its message is made. */
export type SeverityInit = MessageInitShape<typeof SeveritySchema>;

/** What a format finds of one advisory. Times are milliseconds since the epoch. */
export interface Found {
  readonly id: string;
  readonly author: string;
  readonly artifact: Artifact;
  readonly component?: Component;
  readonly aliases: readonly string[];
  readonly severities?: readonly SeverityInit[];
  /** In their order; without a time where the source has none. */
  readonly events: readonly { readonly time: number | undefined; readonly type: EventType; readonly author?: string }[];
  readonly origin?: string;
  readonly published?: number | undefined;
  readonly modified?: number | undefined;
  readonly withdrawn?: number | undefined;
  /** The id of the record that it is a part of. */
  readonly partOf?: string;
  /** The ids of its own parts, where all of them are known. */
  readonly parts?: readonly string[];
}

/** What an advisory is about. */
export interface Artifact {
  readonly name: string;
  readonly type: string;
  readonly architecture?: string;
}

/** What in an artifact is vulnerable. */
export interface Component {
  readonly name: string;
  readonly type: string;
  readonly location?: string;
}

/** The advisory as it is sent. What a source publishes counts as approved. */
export function toRecord(found: Found): ImportedAdvisory {
  const {
    id,
    author,
    artifact,
    component,
    aliases,
    severities = [],
    events,
    origin = "",
    published,
    modified,
    withdrawn,
    partOf = "",
    parts,
  } = found;
  return create(ImportedAdvisorySchema, {
    advisoryId: id,
    author,
    artifactName: artifact.name,
    artifactType: artifact.type,
    artifactArchitecture: artifact.architecture ?? "",
    componentName: component?.name ?? "",
    componentType: component?.type ?? "",
    componentLocation: component?.location ?? "",
    aliases: [...new Set(aliases)].filter((alias) => alias !== "" && alias !== id),
    severities: [...severities],
    events: events.map(({ time, type, author: by = author }) => ({
      ...(time === undefined ? {} : { createTime: toTimestamp(time) }),
      ...{ author: by, reviewState: ReviewState.APPROVED, type },
    })),
    origin,
    ...(published === undefined ? {} : { createTime: toTimestamp(published) }),
    ...(modified === undefined ? {} : { modifyTime: toTimestamp(modified) }),
    ...(withdrawn === undefined ? {} : { withdrawTime: toTimestamp(withdrawn) }),
    partOf,
    ...(parts ? { parts: { advisoryIds: [...parts] } } : {}),
  });
}
