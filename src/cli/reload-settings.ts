// Handles SIGHUP: reads the settings again, and applies those that need no restart.
import type { Logger } from "pino";
import { waitingForRestart } from "../config/reloaded-settings.ts";
import { ConfigError } from "../config/settings.ts";
import type { ReadSettings, ServeOptions } from "./serve-options.ts";

/**
 * Reads the settings again and calls `apply`, which throws a ConfigError if it cannot use them. Never rejects: the error is
 * logged, and the old settings stay.
 */
export async function reloadSettings(
  { reread, settings }: ServeOptions,
  apply: (next: ReadSettings) => Promise<void>,
  log: Logger,
): Promise<void> {
  try {
    const next = reread();
    await apply(next);
    log.info("reloaded the certificate, the secrets and the log level");
    const waiting = waitingForRestart(settings, next.settings);
    if (waiting.length > 0) log.warn({ settings: waiting }, "changed settings take effect after a restart only");
  } catch (error) {
    const failure = error instanceof ConfigError ? { reason: error.message } : { err: error };
    log.error(failure, "reloading the settings failed; everything stays as it was");
  }
}
