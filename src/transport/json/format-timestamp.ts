const millisPerDay = 86_400_000;
const minMillis = Date.parse("0001-01-01T00:00:00.000Z");
const maxMillis = Date.parse("9999-12-31T23:59:59.999Z");

/** Cached days: ten years, some 300 kB. */
const maxDays = 3653;
const days = new Map<number, string>();

/**
 * Formats milliseconds since the epoch as `YYYY-MM-DDTHH:MM:SS.mmmZ`.
 *
 * Caches the text of each day: the times of resources fall on few days. Throws a RangeError outside the years 1 to 9999, the range of
 * a Timestamp.
 */
export function formatTimestamp(millis: number): string {
  if (!(millis >= minMillis && millis <= maxMillis)) throw new RangeError(`no timestamp: ${millis} ms`);
  const day = Math.floor(millis / millisPerDay);
  const rest = millis - day * millisPerDay;
  return dayText(day) + minuteText(Math.floor(rest / 60_000)) + secondText(rest % 60_000);
}

function dayText(day: number): string {
  const known = days.get(day);
  if (known !== undefined) return known;
  if (days.size >= maxDays) days.clear();
  const text = new Date(day * millisPerDay).toISOString().slice(0, 11);
  days.set(day, text);
  return text;
}

/** Shared strings save allocations: a page has a hundred times. */
const minutes: string[] = [];
const seconds: string[] = [];

function minuteText(minute: number): string {
  minutes[minute] ??= `${twoDigits(Math.floor(minute / 60))}:${twoDigits(minute % 60)}:`;
  return minutes[minute];
}

function secondText(millis: number): string {
  const fraction = millis % 1000;
  const second = Math.floor(millis / 1000);
  seconds[second] ??= `${twoDigits(second)}.`;
  return `${seconds[second]}${fraction < 100 ? "0" : ""}${twoDigits(fraction)}Z`;
}

function twoDigits(number: number): string {
  return number < 10 ? `0${number}` : String(number);
}
