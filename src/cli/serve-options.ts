import type { Config } from "../config/config.ts";
import type { RawSettings } from "../config/settings.ts";

/** The settings as given, and validated. */
export interface ReadSettings {
  readonly settings: RawSettings;
  readonly config: Config;
}

/** Options of `serve`. */
export interface ServeOptions extends ReadSettings {
  /** Reads the settings again. Throws a ConfigError. */
  reread(): ReadSettings;
  readonly environment: NodeJS.ProcessEnv;
  /** Whether a launcher forwards signals. */
  readonly hasLauncher: boolean;
}
