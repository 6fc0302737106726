// The texts of settings, read as what they stand for. Each throws a ConfigError that names the setting.
import { ConfigError, type RawSettings, type SettingName } from "./settings.ts";

/** Whether it is switched on. */
export function toSwitch(raw: RawSettings, name: SettingName): boolean {
  return oneOf(raw, name, ["true", "false", "1", "0"]).match(/^(true|1)$/) !== null;
}

/** One of the texts that are allowed. */
export function oneOf<const T extends string>(raw: RawSettings, name: SettingName, allowed: readonly T[]): T {
  const value = allowed.find((candidate) => candidate === raw[name]);
  if (value === undefined)
    throw new ConfigError(`${name}: ${JSON.stringify(raw[name])} is not one of ${allowed.join(", ")}.`);
  return value;
}

/** A whole number within bounds; `or` says what else the setting may be. */
export function toCount(raw: RawSettings, name: SettingName, least: number, most: number, or = ""): number {
  const value = Number(raw[name]);
  if (/^\d{1,9}$/.test(raw[name]) && value >= least && value <= most) return value;
  throw new ConfigError(`${name}: ${JSON.stringify(raw[name])} is not ${or}a number from ${least} to ${most}.`);
}

/** A text of a pattern; the error says what that stands for. */
export function toPattern(raw: RawSettings, name: SettingName, pattern: RegExp, what: string): string {
  if (!pattern.test(raw[name])) throw new ConfigError(`${name}: ${JSON.stringify(raw[name])} is not ${what}.`);
  return raw[name];
}

/** The items of a list, which commas separate. */
export function toList(text: string): string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/**
 * A domain of e-mail addresses. Spelled otherwise it would be no address's, and who has one there could be taken for an
 * organization.
 */
export function toEmailDomain(text: string): string {
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(text))
    throw new ConfigError(
      `shared-email-domains: ${JSON.stringify(text)} is not a domain in lower case such as gmail.com.`,
    );
  return text;
}

/** The id of a document that can be accepted. */
export function toDocumentId(text: string): string {
  if (!/^[A-Za-z0-9._-]{1,100}$/.test(text))
    throw new ConfigError(`terms-documents: ${JSON.stringify(text)} is not a document id such as tos.v1.`);
  return text;
}
