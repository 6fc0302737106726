import { type RawSettings, type Setting, settings } from "../config/settings.ts";

/** Returns a sentence for each setting that no longer exists, and would have changed the server. */
export function removedSettings(raw: RawSettings): string[] {
  return settings
    .filter((setting: Setting) => setting.isRemoved && raw[setting.name as keyof RawSettings] !== setting.fallback)
    .map(({ name }) => `the setting ${name} has been removed and has no effect`);
}
