// What becomes of the events of an advisory when a source says what it knows of it.
import type { AdvisoryEventRow } from "../../storage/advisories.ts";
import { canonicalContent, contentOfRow, type EventContent, eventRow, refuseTooManyEvents } from "./event-content.ts";
import { placedEvents } from "./write-advisory.ts";

/** What a source says. */
export interface Said {
  readonly events: readonly EventContent[];
  /** When that happened of which it does not say when. */
  readonly time: number;
  /** Whether it is known to have said it after what is stored. */
  readonly isLater: boolean;
}

/**
 * The stored events, corrected and completed. An event is one that is stored if it says the same and happened then, if the
 * source says when; if it says something else, but is of the same type, author and time, it was corrected.
 */
export function mergedEvents(uid: string, stored: readonly AdvisoryEventRow[], said: Said): AdvisoryEventRow[] {
  const free = new Set(stored);
  const texts = new Map(stored.map((event) => [event, textOfRow(event)]));
  const take = (fits: (event: AdvisoryEventRow) => boolean) => {
    for (const event of free) {
      if (!fits(event)) continue;
      free.delete(event);
      return event;
    }
    return undefined;
  };
  const others = said.events.filter((content) => {
    const text = canonicalContent(content);
    const isThen = ({ createTime }: AdvisoryEventRow) => content.time === undefined || content.time === createTime;
    return !take((event) => isThen(event) && texts.get(event) === text);
  });
  const corrected = new Map<AdvisoryEventRow, AdvisoryEventRow>();
  const added = others.filter((content) => {
    const found = take(
      ({ type, createTime, author }) =>
        type === content.type && createTime === content.time && author === content.author,
    );
    if (found) corrected.set(found, eventRow(found.uid, uid, content, found.createTime));
    return !found;
  });
  const placed = placedBehind(uid, stored, [...added, ...repeatedOf(stored, added, said)], said.time);
  const events = [...stored.map((event) => corrected.get(event) ?? event), ...placed];
  refuseTooManyEvents(events, uid);
  return events;
}

/**
 * What a source says last without a time is what holds now. Where it has said something else since, it has come back to it,
 * and that is one more event. Sources that do not tell their copies apart, such as two releases of a database, would come
 * back to what they say at every import: of theirs only those count that say something new.
 */
function repeatedOf(
  stored: readonly AdvisoryEventRow[],
  added: readonly EventContent[],
  { events, isLater }: Said,
): EventContent[] {
  const last = events.findLast(isUndated);
  const newest = added.findLast(isUndated);
  if (!last || !(isLater || newest)) return [];
  const latest = stored.findLast(({ author }) => author === last.author);
  const text = newest ? canonicalContent(newest) : latest && textOfRow(latest);
  return text === canonicalContent(last) ? [] : [last];
}

/** What happened at no time that is told comes behind what its author has said before. */
function placedBehind(
  uid: string,
  stored: readonly AdvisoryEventRow[],
  events: readonly EventContent[],
  time: number,
): AdvisoryEventRow[] {
  const authors = new Set(events.map(({ author }) => author));
  const latest = stored.findLast(({ author }) => authors.has(author));
  return placedEvents(uid, events, Math.max(time, latest?.createTime ?? time), stored);
}

function isUndated({ time }: EventContent): boolean {
  return time === undefined;
}

function textOfRow(event: AdvisoryEventRow): string {
  return canonicalContent(contentOfRow(event));
}

/** What a source says twice is said once. */
export function distinct(events: readonly EventContent[]): EventContent[] {
  return [...new Map(events.map((event) => [`${event.time} ${canonicalContent(event)}`, event])).values()];
}
