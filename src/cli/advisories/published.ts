// Advisories as they are exported: what the latest approved event says of each.
import {
  AdvisoriesService,
  type Advisory,
  type AdvisoryEvent,
  ReviewState,
} from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { fromTimestamp } from "../../aip/timestamps.ts";
import type { Session } from "../client/session.ts";

/** An advisory, and the event that is its state. */
export interface Published {
  readonly advisory: Advisory;
  readonly event: AdvisoryEvent;
}

/** The most that one page holds. */
const pageSize = 200;

/** Every advisory below a group that has an approved event, in the order of the public ids. */
export async function* publishedBelow(session: Session, group: string): AsyncGenerator<Published> {
  const client = await session.client(AdvisoriesService);
  let pageToken = "";
  do {
    const request = { uidp: { descendantsOf: group }, orderBy: "advisory_id", pageSize, pageToken };
    const { advisories, nextPageToken } = await client.listAdvisories(request);
    for (const advisory of advisories) {
      const event = advisory.events.findLast(({ reviewState }) => reviewState === ReviewState.APPROVED);
      if (event) yield { advisory, event };
    }
    pageToken = nextPageToken;
  } while (pageToken !== "");
}

/** When an advisory was last changed, in milliseconds since the epoch. */
export function changeTime({ updateTime }: Advisory): number {
  return updateTime ? fromTimestamp(updateTime) : 0;
}

/** When an event happened, in milliseconds since the epoch. */
export function eventTime({ createTime }: AdvisoryEvent): number {
  return createTime ? fromTimestamp(createTime) : 0;
}

/** A time as documents have it. */
export function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** The id of the vulnerability: that of a CVE where there is one. */
export function vulnerabilityOf({ advisoryId, aliases }: Advisory): string {
  return aliases.find((alias) => alias.startsWith("CVE-")) ?? aliases[0] ?? advisoryId;
}

/** All other ids of the vulnerability. */
export function otherIdsOf(advisory: Advisory): string[] {
  const own = vulnerabilityOf(advisory);
  return [advisory.advisoryId, ...advisory.aliases].filter((id) => id !== own);
}

/** The note of an event; empty when it has none. */
export function noteOf({ type }: AdvisoryEvent): string {
  return type.value && "note" in type.value ? type.value.note : "";
}
