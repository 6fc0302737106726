// What exports say of advisories.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AdvisoryEventSchema } from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";

/** What an event says. */
export type EventType = NonNullable<MessageInitShape<typeof AdvisoryEventSchema>["type"]>;

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
