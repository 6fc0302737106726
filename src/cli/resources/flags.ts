// Converts flag values to the JSON of fields.
import type { JsonObject } from "@bufbuild/protobuf";
import { readTextFile } from "../../base/text-file.ts";
import { wrongUsage } from "../failure.ts";
import { readFile } from "../input.ts";
import type { FlagValue } from "./resource.ts";

/** Several values: repeated flags or commas. */
export function list(value: FlagValue): string[] {
  return [value]
    .flat()
    .flatMap((text) => String(text).split(","))
    .filter((text) => text !== "");
}

/** Parses `name=value` pairs (or `name:value`, as in chainctl) to a map. */
export function pairs(value: FlagValue): JsonObject {
  return Object.fromEntries(
    [value].flat().map((text) => {
      const [, name, content] = /^([^=:]+)[=:](.*)$/s.exec(String(text)) ?? [];
      if (name === undefined || content === undefined) throw wrongUsage(`${JSON.stringify(text)} is not name=value`);
      return [name, content];
    }),
  );
}

/** Parses a duration such as `90m`, `24h` or `7d` to the JSON of google.protobuf.Duration. */
export function duration(value: FlagValue): string {
  return `${seconds(value)}s`;
}

/** Parses a duration from now, and returns its end. */
export function endOf(value: FlagValue): string {
  return new Date(Date.now() + seconds(value) * 1000).toISOString();
}

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Parses a duration to seconds. */
export function seconds(value: FlagValue): number {
  const parts = /^(?:\d+[smhd])+$/.test(String(value)) ? String(value).matchAll(/(\d+)([smhd])/g) : [];
  const sum = [...parts].reduce((total, [, count, unit]) => total + Number(count) * (secondsOf[unit ?? ""] ?? 0), 0);
  if (sum <= 0) throw wrongUsage(`${JSON.stringify(value)} is not a duration such as 30m, 24h or 7d`);
  return sum;
}

/** Parses a time, a date (its midnight in UTC, as all times are printed), `now`, `today`, `yesterday`, or a duration before now. */
export function timeOrAgo(value: FlagValue): string {
  const text = String(value).trim();
  const daysAgo = ["today", "yesterday"].indexOf(text.toLowerCase());
  if (daysAgo >= 0) return midnight(daysAgo).toISOString();
  if (text.toLowerCase() === "now") return new Date().toISOString();
  // Date.parse reads much that is not meant as a time, such as "last 2".
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  return new Date(Date.now() - secondsAgo(text) * 1000).toISOString();
}

function secondsAgo(text: string): number {
  try {
    return seconds(text.replace(/ ago$/, ""));
  } catch {
    throw wrongUsage(
      `${JSON.stringify(text)} is not a time`,
      "Times are such as 2h, 7d, today, yesterday, 2026-11-28 and 2026-11-28T09:30:00Z.",
    );
  }
}

/** Returns the midnight, in UTC, that began the day so many days ago. */
function midnight(daysAgo: number): Date {
  const date = new Date();
  date.setUTCHours(0, 0, 0, 0);
  date.setUTCDate(date.getUTCDate() - daysAgo);
  return date;
}

/** Reads the file that a flag names. Wrong usage, with the system's reason, if it cannot be read. */
export function fileOf(flag: string, file: string): string {
  return readFile(file, flag).trim();
}

/** Returns a JSON Web Key Set, given directly or as a file. Only a key set starts with a brace. */
export function fileOrKeys(flag: string) {
  return (value: FlagValue): string => {
    const text = String(value).trim();
    return text.startsWith("{") ? text : fileOf(flag, text);
  };
}

/**
 * Returns a secret, given directly or as a file. A value that looks like a path but cannot be read is rejected, and not
 * printed, because it may be a secret after all.
 */
export function fileOrSecret(flag: string) {
  return (value: FlagValue): string => {
    const text = String(value);
    const content = readText(text);
    if (!(content instanceof Error)) return content;
    const isNoFile = ["ENOENT", "ENAMETOOLONG"].includes(String(content.code));
    if (isNoFile && !text.includes("/")) return text;
    throw wrongUsage(
      `${flag}: the file that it names cannot be read (${content.code ?? content.message})`,
      "A secret with a slash in it goes into a file.",
    );
  };
}

function readText(file: string): string | NodeJS.ErrnoException {
  try {
    return readTextFile(file).trim();
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}

/** Returns the enum constant of a short name: `application` for CATALOG_TIER_APPLICATION. */
export function constant(prefix: string, shorter: Readonly<Record<string, string>> = {}) {
  return (value: FlagValue): string => {
    const text = String(value);
    const name = shorter[text] ?? text.toUpperCase().replaceAll("-", "_");
    return name.startsWith(prefix) ? name : `${prefix}${name}`;
  };
}
