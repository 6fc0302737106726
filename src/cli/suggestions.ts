// Suggestions for misspelt settings.
import { type SettingName, settings } from "../config/settings.ts";

/** Settings that are never suggested: following a hint without thought must not make a server less safe. */
export const neverProposed: readonly SettingName[] = settings
  .filter((setting) => "lowersSafety" in setting)
  .map(({ name }) => name);

/** Removes such settings from the hint of commander: `(Did you mean --listen?)`, `(Did you mean one of --a, --b?)`. */
export function withSafeHint(error: string): string {
  return error.replace(/\n\(Did you mean (?:one of )?(--[^)?]+)\?\)/, (_, list: string) => {
    const safe = list.split(", ").filter((flag) => !neverProposed.some((name) => flag === `--${name}`));
    if (safe.length === 0) return "";
    return `\n(Did you mean ${safe.length > 1 ? "one of " : ""}${safe.join(", ")}?)`;
  });
}
