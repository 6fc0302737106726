// A log line for a person: one line of text made of a line of JSON.
import { visible } from "../aip/clip.ts";

/** The members that every line has, which the text shows without their names or not at all. */
const usual = new Set(["level", "time", "msg", "pid", "hostname"]);

/** Turns a log line in JSON into `time LEVEL message name=value …`, with a line break at the end. A line that is no JSON stays. */
export function logText(line: string): string {
  const members = parseMembers(line);
  if (!members) return line;
  const { time, level, msg } = members;
  const rest = Object.entries(members).filter(([name, value]) => !usual.has(name) && value !== undefined);
  const parts = [timeOfDay(time), String(level).toUpperCase().padEnd(5), visible(String(msg ?? ""))];
  return `${[...parts, ...rest.map(([name, value]) => `${name}=${valueText(value)}`)].join(" ")}\n`;
}

function parseMembers(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** The part of an ISO time that a reader needs while the program runs: `02:10:02.123Z`. */
function timeOfDay(time: unknown): string {
  return String(time).replace(/^.*T/, "");
}

/** A text as it is where it cannot be misread; anything else as JSON. */
function valueText(value: unknown): string {
  if (typeof value === "string" && /^[^\s"=]+$/.test(value)) return visible(value);
  return visible(JSON.stringify(value) ?? "");
}
