// The log of a server: lines of JSON, or of text for a terminal.

import { hostname } from "node:os";
import pino, { type DestinationStream, type Logger } from "pino";
import { visible } from "../base/clip.ts";

/** The options of log lines. */
export interface LogOptions {
  /** The lowest level that is written, or `silent`. */
  readonly level: string;
  readonly format: "json" | "text";
  /** The number of this process, if several serve one port: a member of every line. */
  readonly worker?: number;
}

/** Makes the log. Levels are names, times are in ISO 8601. */
export function newLog({ level, format, worker }: LogOptions, output: DestinationStream): Logger {
  const options = {
    level,
    // pino reads these when it is loaded, which may have happened in a startup snapshot.
    base: { pid: process.pid, hostname: hostname(), ...(worker !== undefined && { worker }) },
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  const destination = format === "json" ? output : { write: (line: string) => output.write(logText(line)) };
  return pino(options, destination);
}

/** Members of every line, which the text shows without their names or not at all. */
const usual = new Set(["level", "time", "msg", "pid", "hostname"]);

/** Formats a JSON log line as `time LEVEL message name=value …` with a line break. Other lines stay unchanged. */
function logText(line: string): string {
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

/** Returns the time of day of an ISO time: `02:10:02.123Z`. */
function timeOfDay(time: unknown): string {
  return String(time).replace(/^.*T/, "");
}

/** Returns a text unchanged if it is unambiguous; anything else as JSON. */
function valueText(value: unknown): string {
  if (typeof value === "string" && /^[^\s"=]+$/.test(value)) return visible(value);
  return visible(JSON.stringify(value) ?? "");
}
