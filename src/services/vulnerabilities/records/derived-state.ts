// The state of an advisory as it follows from its records, together with the events that were written with the API.
import { type DerivedEvent, deriveAdvisory, type SaidPart } from "../../../advisories/derive/derive.ts";
import { lookUpKeysOf } from "../../../advisories/queries/package.ts";
import { textLength } from "../../../aip/text-length.ts";
import { newChildBehind, parentOf } from "../../../model/uid.ts";
import type { AdvisoryEventRow } from "../../../storage/vulnerabilities/advisories.ts";
import type { AdvisoryRow } from "../../../storage/vulnerabilities/rows.ts";
import type { AdvisoryState } from "../advisories/advisory-state.ts";
import { canonicalContent, contentOf, contentOfRow, type EventContent, eventRow } from "../advisories/event-content.ts";
import { advisoryLimits } from "../limits.ts";
import type { LoadedRecord } from "./linked-records.ts";
import { keyOfLocated, type LocatedAdvisory } from "./located-advisories.ts";

/** What the records say of an advisory, in whatever order. */
export function saidOf(located: LocatedAdvisory, records: readonly LoadedRecord[]): SaidPart[] {
  const key = keyOfLocated(located);
  return records.flatMap(({ record, parts, createTime, updateTime }) => {
    const part = parts.get(key);
    return part ? [{ record, part, createTime, importTime: updateTime }] : [];
  });
}

/**
 * The state that follows from what records say; `said` is not empty. `kept` are the events that were written with the API, `former` are
 * those that followed from records before.
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
    ...{ uid, parent: parentOf(uid), ...identityColumns(located, said) },
    // Of these, only earlier versions and the API know.
    origin: row?.artifactName === fields.artifactName ? row.origin : fields.artifactName,
    componentLocation: row?.componentLocation ?? "",
    ...{ latestEventType: 0, aliasText: "", sources: row?.sources ?? [] },
    ...times,
  };
  return { row: after, events: [...kept, ...placeEvents(uid, fitting(events, kept), former)] };
}

/** The columns that tell which advisory it is. */
export function identityColumns(located: LocatedAdvisory, said: readonly SaidPart[]) {
  return {
    name: located.advisoryId,
    legacyAdvisoryId: formerIdOf(located),
    product: located.identity,
    lookUpKeys: lookUpKeysOf(said.flatMap(({ part }) => part.statements)),
  };
}

/** The id that earlier versions gave to an advisory, by which it is still found. */
function formerIdOf({ row, advisoryId }: LocatedAdvisory): string {
  if (!row) return "";
  return row.legacyAdvisoryId === "" && row.name !== advisoryId ? row.name : row.legacyAdvisoryId;
}

/** The latest events that say no more together than an advisory may. */
function fitting(events: readonly DerivedEvent[], kept: readonly AdvisoryEventRow[]): EventContent[] {
  const contents = events.map(({ event, time }) => ({ ...contentOf(event), time }));
  let length = kept.reduce((sum, { event }) => sum + textLength(event), 0);
  const first = contents.findLastIndex(({ said }) => {
    length += textLength(said);
    return length > advisoryLimits.eventsLength;
  });
  return contents.slice(first + 1);
}

/** The rows of derived events: those that stay as they are keep their uids, and of one time the later one has the greater uid. */
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
