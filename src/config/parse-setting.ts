// Parsers of settings. Each throws a ConfigError that names the setting.
import { hasPortZero } from "../base/address-ranges.ts";
import { ConfigError, type RawSettings, type SettingName } from "./settings.ts";

/** Parses an on/off switch. */
export function toSwitch(raw: RawSettings, name: SettingName): boolean {
  return oneOf(raw, name, ["true", "false", "1", "0"]).match(/^(true|1)$/) !== null;
}

/** Returns one of the allowed values. */
export function oneOf<const T extends string>(raw: RawSettings, name: SettingName, allowed: readonly T[]): T {
  const value = allowed.find((candidate) => candidate === raw[name]);
  if (value === undefined)
    throw new ConfigError(`${name}: ${JSON.stringify(raw[name])} is not one of ${allowed.join(", ")}.`);
  return value;
}

/** Parses a whole number within limits; `or` names another allowed value. */
export function toCount(raw: RawSettings, name: SettingName, least: number, most: number, or = ""): number {
  const value = Number(raw[name]);
  if (/^\d{1,9}$/.test(raw[name]) && value >= least && value <= most) return value;
  throw new ConfigError(`${name}: ${JSON.stringify(raw[name])} is not ${or}a number from ${least} to ${most}.`);
}

/** Returns a text that matches a pattern; the error says what it should be. */
export function toPattern(raw: RawSettings, name: SettingName, pattern: RegExp, what: string): string {
  if (!pattern.test(raw[name])) throw new ConfigError(`${name}: ${JSON.stringify(raw[name])} is not ${what}.`);
  return raw[name];
}

/** Returns the items of a comma-separated list. */
export function toList(text: string): string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** Parses a list of keys in base64 or base64url. Throws a ConfigError that names the source but not the keys. */
export function toSecretsKeys(text: string, from: string): Buffer[] {
  return toList(text).map((item) => {
    const key = Buffer.from(item, "base64");
    if (key.length === 32 && /^[A-Za-z0-9+/_-]{43}=?$/.test(item)) return key;
    throw new ConfigError(`${from}: must be 32 bytes in base64, or several such keys separated by commas.`);
  });
}

/** Parses an http or https URL without query, fragment and user. Returns it without trailing slashes. */
export function toPlainUrl(name: SettingName, text: string): string {
  const url = URL.parse(text);
  const isPlain =
    url &&
    (url.protocol === "https:" || url.protocol === "http:") &&
    !url.search &&
    !url.hash &&
    !url.username &&
    !url.password &&
    !hasPortZero(url);
  if (!isPlain) {
    // A password in the URL is not printed.
    const shown = url?.password ? "the URL" : JSON.stringify(text);
    throw new ConfigError(`${name}: ${shown} is not an http or https URL without query, fragment, user and port 0.`);
  }
  return text.replace(/\/+$/, "");
}
