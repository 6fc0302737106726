// Lists the settings that a running server reloads.
import { type RawSettings, type SettingName, settings } from "./settings.ts";

const reloaded: readonly SettingName[] = [
  "tls-cert",
  "tls-key",
  "secrets-key",
  "login-client-secret",
  "registry-credentials",
  "registry-notification-secret",
  "log-level",
];

/** Features that exist only if these are set; that is decided at the start. */
const decidedAtStart: readonly SettingName[] = ["tls-cert", "tls-key", "registry-notification-secret"];

/** Returns the settings of a server that started with the first and has reloaded the second. */
export function settingsAfterReload(atStart: RawSettings, now: RawSettings): RawSettings {
  const waiting = waitingForRestart(atStart, now);
  return { ...now, ...Object.fromEntries(waiting.map((name) => [name, atStart[name]])) };
}

/** Returns the changed settings that take effect after a restart only. */
export function waitingForRestart(atStart: RawSettings, now: RawSettings): SettingName[] {
  return settings
    .map(({ name }): SettingName => name)
    .filter((name) => {
      if (atStart[name] === now[name]) return false;
      const switches = (atStart[name] === "") !== (now[name] === "");
      return !reloaded.includes(name) || (decidedAtStart.includes(name) && switches);
    });
}
