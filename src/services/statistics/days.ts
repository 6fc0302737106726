// Days and weeks in UTC, as milliseconds since the epoch at which they begin.
import { dayMs } from "../../base/clock.ts";

/** Returns the beginning of the day of a time. */
export function dayOf(time: number): number {
  return Math.floor(time / dayMs) * dayMs;
}

/** Returns the text of a day, such as `2026-11-01`. */
export function formatDay(day: number): string {
  return new Date(day).toISOString().slice(0, 10);
}

/** Parses the text of a day; undefined if there is no such day. */
export function parseDay(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return undefined;
  const day = Date.parse(text);
  // Date.parse takes the 30th of February for a day of March.
  return Number.isNaN(day) || formatDay(day) !== text ? undefined : day;
}

/** Returns the first day of each step from one day to another inclusive: of every day, or of every week from Monday on. */
export function stepsOf(first: number, last: number, isWeekly: boolean): number[] {
  const days = Array.from({ length: Math.floor((last - first) / dayMs) + 1 }, (_, i) => first + i * dayMs);
  return isWeekly ? days.filter((day, i) => i === 0 || new Date(day).getUTCDay() === 1) : days;
}
