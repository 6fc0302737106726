// The log of a server: lines of JSON, or of text for a terminal.
import { hostname } from "node:os";
import pino, { type DestinationStream, type Logger } from "pino";
import { logText } from "./log-text.ts";

/** How log lines are written. */
export interface LogOptions {
  /** The lowest level that is written, or `silent`. */
  readonly level: string;
  readonly format: "json" | "text";
}

/** Makes the log. Levels are names, times are in ISO 8601. */
export function newLog({ level, format }: LogOptions, output: DestinationStream): Logger {
  const options = {
    level,
    // pino reads these when it is loaded, which may have happened in a startup snapshot.
    base: { pid: process.pid, hostname: hostname() },
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  const destination = format === "json" ? output : { write: (line: string) => output.write(logText(line)) };
  return pino(options, destination);
}
