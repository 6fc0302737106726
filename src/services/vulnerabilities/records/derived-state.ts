// Derives the state of an advisory from its records and from the events that were written with the API.
import { type DerivedEvent, deriveAdvisory, type SaidPart } from "../../../advisories/derive/derive.ts";
import { lookUpKeysOf } from "../../../advisories/queries/package.ts";
import { textLength } from "../../../aip/text-length.ts";
import { fromTimestamp } from "../../../aip/timestamps.ts";
import { newChildBehind, parentOf } from "../../../model/uid.ts";
import type { AdvisoryEventRow } from "../../../storage/vulnerabilities/advisories.ts";
import { type AdvisoryRow, underived } from "../../../storage/vulnerabilities/rows.ts";
import type { AdvisoryState } from "../advisories/advisory-state.ts";
import { canonicalContent, contentOf, contentOfRow, type EventContent, eventRow } from "../advisories/event-content.ts";
import { advisoryLimits } from "../limits.ts";
import type { LoadedRecord } from "./linked-records.ts";
import { keyOfLocated, type LocatedAdvisory } from "./located-advisories.ts";

/** Returns the parts of records about an advisory, in any order. */
export function saidOf(located: LocatedAdvisory, records: readonly LoadedRecord[]): SaidPart[] {
  const key = keyOfLocated(located);
  return records.flatMap(({ record, parts, createTime, updateTime }) => {
    const part = parts.get(key);
    return part ? [{ record, part, createTime, importTime: updateTime }] : [];
  });
}

/**
 * Derives the state of an advisory from at least one part of a record. `kept` are the events that were written with the
 * API, `former` the events that were derived before.
 */
export function derivedState(
  located: LocatedAdvisory,
  said: readonly SaidPart[],
  kept: readonly AdvisoryEventRow[],
  former: readonly AdvisoryEventRow[],
  now: number,
): AdvisoryState {
  const { uid, advisoryId, row } = located;
  const { product } = said[0]!.part;
  const { items } = advisoryLimits;
  const limits = { events: advisoryLimits.events - kept.length, items };
  const { events, createTime, ...fields } = deriveAdvisory({ advisoryId, product }, said, limits);
  const times = {
    createTime: kept.length > 0 && row ? Math.min(row.createTime, createTime) : createTime,
    updateTime: now,
  };
  const after: AdvisoryRow = {
    ...fields,
    uid,
    parent: parentOf(uid),
    ...identityColumns(located, said),
    // Only earlier versions and the API set these.
    origin: row?.artifactName === fields.artifactName ? row.origin : fields.artifactName,
    componentLocation: row?.componentLocation ?? "",
    ...underived,
    publishTime: firstPublication(said),
    sources: row?.sources ?? [],
    ...times,
  };
  return { row: after, events: [...kept, ...placeEvents(uid, fitting(events, kept), former)] };
}

/** Returns when the first record was published; null if no record says so. */
function firstPublication(said: readonly SaidPart[]): number | null {
  const times = said.flatMap(({ record: { publishTime } }) => (publishTime ? [fromTimestamp(publishTime)] : []));
  return times.length > 0 ? Math.min(...times) : null;
}

/** Returns the columns that identify an advisory. */
export function identityColumns(located: LocatedAdvisory, said: readonly SaidPart[]) {
  return {
    name: located.advisoryId,
    legacyAdvisoryId: formerIdOf(located),
    product: located.identity,
    lookUpKeys: lookUpKeysOf(said.flatMap(({ part }) => part.statements)),
  };
}

/** Returns the id that an earlier version gave to the advisory, by which lookups still find it. */
function formerIdOf({ row, advisoryId }: LocatedAdvisory): string {
  if (!row) return "";
  return row.legacyAdvisoryId === "" && row.name !== advisoryId ? row.name : row.legacyAdvisoryId;
}

/** Returns the latest events that fit into the limits of an advisory. */
function fitting(events: readonly DerivedEvent[], kept: readonly AdvisoryEventRow[]): EventContent[] {
  const contents = events.map(({ event, time }) => ({ ...contentOf(event), time }));
  let length = kept.reduce((sum, { event }) => sum + textLength(event), 0);
  const first = contents.findLastIndex(({ said }) => {
    length += textLength(said);
    return length > advisoryLimits.eventsLength;
  });
  return contents.slice(first + 1);
}

/** Builds the rows of derived events. Unchanged ones keep their uids; of events with one time, the later one has the greater uid. */
function placeEvents(
  advisoryUid: string,
  contents: readonly EventContent[],
  former: readonly AdvisoryEventRow[],
): AdvisoryEventRow[] {
  const known = Map.groupBy(former, (event) => textAt(contentOfRow(event)));
  let last = { time: Number.NaN, uid: "" };
  return contents.map((content) => {
    const time = content.time!;
    const behind = last.time === time ? last.uid : "";
    const same = known.get(textAt(content))?.shift();
    const row =
      same && same.uid > behind
        ? same
        : eventRow(newChildBehind(advisoryUid, behind), advisoryUid, content, time, true);
    last = { time, uid: row.uid };
    return row;
  });
}

function textAt(content: EventContent): string {
  return `${content.time} ${canonicalContent(content)}`;
}
