// How what was typed becomes the JSON of a field.
import { readFileSync } from "node:fs";
import type { JsonObject } from "@bufbuild/protobuf";
import { errorMessage } from "../../base/system-error.ts";
import { wrongUsage } from "../failure.ts";
import type { FlagValue } from "./resource.ts";

/** Several values: the flag again and again, or commas. */
export function list(value: FlagValue): string[] {
  return [value]
    .flat()
    .flatMap((text) => String(text).split(","))
    .filter((text) => text !== "");
}

/** `name=value` pairs (`name:value` too, as chainctl has them) as a map. */
export function pairs(value: FlagValue): JsonObject {
  return Object.fromEntries(
    [value].flat().map((text) => {
      const [, name, content] = /^([^=:]+)[=:](.*)$/s.exec(String(text)) ?? [];
      if (name === undefined || content === undefined) throw wrongUsage(`${JSON.stringify(text)} is not name=value`);
      return [name, content];
    }),
  );
}

/** A length of time such as `90m`, `24h` or `7d`, in the JSON of google.protobuf.Duration. */
export function duration(value: FlagValue): string {
  return `${seconds(value)}s`;
}

/** A length of time from now, as the time when it ends. */
export function endOf(value: FlagValue): string {
  return new Date(Date.now() + seconds(value) * 1000).toISOString();
}

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Seconds of a length of time. */
export function seconds(value: FlagValue): number {
  const parts = /^(?:\d+[smhd])+$/.test(String(value)) ? String(value).matchAll(/(\d+)([smhd])/g) : [];
  const sum = [...parts].reduce((total, [, count, unit]) => total + Number(count) * (secondsOf[unit ?? ""] ?? 0), 0);
  if (sum <= 0) throw wrongUsage(`${JSON.stringify(value)} is no length of time such as 30m, 24h or 7d`);
  return sum;
}

/** A time, or a length of time ago. */
export function timeOrAgo(value: FlagValue): string {
  const time = Date.parse(String(value));
  return new Date(Number.isNaN(time) ? Date.now() - seconds(value) * 1000 : time).toISOString();
}

/** The content of the file that a flag names; wrong usage, with the system's reason, when it cannot be read. */
export function fileOf(flag: string, file: string): string {
  const content = readText(file);
  if (content instanceof Error) throw wrongUsage(`${flag}: ${file} cannot be read: ${errorMessage(content, file)}`);
  return content;
}

/** A JSON Web Key Set, or the content of the file with this path. Only a set begins with a brace. */
export function fileOrKeys(flag: string) {
  return (value: FlagValue): string => {
    const text = String(value).trim();
    return text.startsWith("{") ? text : fileOf(flag, text);
  };
}

/**
 * The content of the file with this path, or the secret itself. What looks like a path and cannot be read is no secret that
 * was meant; as it may be one nevertheless, it is not shown.
 */
export function fileOrSecret(flag: string) {
  return (value: FlagValue): string => {
    const text = String(value);
    const content = readText(text);
    if (!(content instanceof Error)) return content;
    const isNoFile = ["ENOENT", "ENAMETOOLONG"].includes(String(content.code));
    if (isNoFile && !text.includes("/")) return text;
    throw wrongUsage(
      `${flag}: the file that it names cannot be read (${content.code})`,
      "A secret with a slash in it goes into a file.",
    );
  };
}

function readText(file: string): string | NodeJS.ErrnoException {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}

/** A constant of an enum by its short name: `application` for CATALOG_TIER_APPLICATION. */
export function constant(prefix: string, shorter: Readonly<Record<string, string>> = {}) {
  return (value: FlagValue): string => {
    const text = String(value);
    const name = shorter[text] ?? text.toUpperCase().replaceAll("-", "_");
    return name.startsWith(prefix) ? name : `${prefix}${name}`;
  };
}
