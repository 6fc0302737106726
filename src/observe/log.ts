// The log of a server: lines of JSON, or of text for a person who watches a terminal.
import { hostname } from "node:os";
import pino, { type DestinationStream, type Logger } from "pino";
import { logText } from "./log-text.ts";

/** How log lines are written. */
export interface LogOptions {
  /** The least severe level that is written, or `silent`. */
  readonly level: string;
  readonly format: "json" | "text";
}

/** Makes the log. Levels are names and times are in ISO 8601, so that a reader needs no table for either. */
export function newLog({ level, format }: LogOptions, output: DestinationStream): Logger {
  const options = {
    level,
    // Of this process: pino's own are of the moment in which it was loaded, which may lie in a startup snapshot.
    base: { pid: process.pid, hostname: hostname() },
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  const destination = format === "json" ? output : { write: (line: string) => output.write(logText(line)) };
  return pino(options, destination);
}
