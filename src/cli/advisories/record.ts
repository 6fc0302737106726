// Advisories as the formats make them, ready to be sent.
import { createHash } from "node:crypto";
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
import { publicIdOf } from "../../services/vulnerabilities/advisory-fields.ts";

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
  readonly withdrawn?: number | undefined;
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
    withdrawn,
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
    ...(withdrawn === undefined ? {} : { withdrawTime: toTimestamp(withdrawn) }),
  });
}

/** The public id of a vulnerability in an artifact, for sources that have none: the same whenever it is imported. */
export function derivedId(artifact: Artifact, vulnerability: string): string {
  const { type, name } = artifact;
  return publicIdOf(createHash("sha256").update([type, name, vulnerability].join("\0")).digest().subarray(0, 12));
}
