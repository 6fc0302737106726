// Warns about files of the operator that other users of the machine can read or change.
import { statSync } from "node:fs";
import path from "node:path";
import type { SettingsFile } from "../config/read-settings.ts";
import { type RawSettings, settings } from "../config/settings.ts";

/** The permissions of other users, as bits of the file mode. */
const [readable, writable] = [0o004, 0o002];

/**
 * Returns a sentence for each file or directory that other users can read or change but should not. These are warnings,
 * because the operator cannot always set the mode: Kubernetes mounts keys readable by all users of a container.
 */
export function exposedFiles(raw: RawSettings, file: SettingsFile | undefined): string[] {
  // On Windows the mode means nothing.
  if (process.platform === "win32") return [];
  return [
    ...warnings("tls-key", raw["tls-key"], readable | writable, "0600"),
    ...(file ? configWarnings(file) : []),
    ...warnings("data-dir", path.resolve(raw["data-dir"]), writable, "0700"),
  ];
}

function configWarnings({ path: file, settings: set }: SettingsFile): string[] {
  const hasSecret = settings.some((setting) => "isSecret" in setting && (set[setting.name] ?? "") !== "");
  return warnings("config", file, hasSecret ? readable | writable : writable, "0600");
}

function warnings(name: string, file: string, forbidden: number, mode: string): string[] {
  const allowed = file === "" ? 0 : (statSync(file, { throwIfNoEntry: false })?.mode ?? 0);
  const found = allowed & forbidden;
  if (found === 0) return [];
  const what = (found & writable) === 0 ? "read" : "changed";
  return [`warning: ${name}: ${file} can be ${what} by every user of this machine; set its mode to ${mode}`];
}
