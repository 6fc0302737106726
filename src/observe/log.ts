// The log of a server: lines of JSON, or of text for a terminal.
import { hostname } from "node:os";
import pino, { type DestinationStream, type Logger } from "pino";
import { logText } from "./log-text.ts";

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
