const millisPerDay = 86_400_000;
const minMillis = Date.parse("0001-01-01T00:00:00.000Z");
const maxMillis = Date.parse("9999-12-31T23:59:59.999Z");

let day = Number.NaN;
let dayText = "";

/**
 * Formats milliseconds since the epoch as `YYYY-MM-DDTHH:MM:SS.mmmZ`.
 *
 * The date of the latest day is remembered, since the times of a page mostly fall on few days. Throws a RangeError
 * outside the years 1 to 9999, which is what a Timestamp may hold.
 */
export function formatTimestamp(millis: number): string {
  if (!(millis >= minMillis && millis <= maxMillis)) throw new RangeError(`no timestamp: ${millis} ms`);
  const thisDay = Math.floor(millis / millisPerDay);
  if (thisDay !== day) {
    dayText = new Date(millis).toISOString().slice(0, 11);
    day = thisDay;
  }
  const rest = millis - thisDay * millisPerDay;
  const hours = twoDigits(Math.floor(rest / 3_600_000));
  const minutes = twoDigits(Math.floor(rest / 60_000) % 60);
  const seconds = twoDigits(Math.floor(rest / 1000) % 60);
  const fraction = rest % 1000;
  return `${dayText}${hours}:${minutes}:${seconds}.${fraction < 100 ? "0" : ""}${twoDigits(fraction)}Z`;
}

function twoDigits(number: number): string {
  return number < 10 ? `0${number}` : String(number);
}
