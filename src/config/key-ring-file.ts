// The keys of encryption at rest: from the setting, or from a file in the data directory.
import { randomBytes } from "node:crypto";
import { statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { makeDirectory } from "../base/directories.ts";
import { errorMessage, hasCode } from "../base/system-error.ts";
import { readTextFile } from "../base/text-file.ts";
import type { Config } from "./config.ts";
import { toSecretsKeys } from "./parse-setting.ts";
import { ConfigError } from "./settings.ts";

/**
 * Returns the keys of an installation: the first encrypts, all decrypt. If there is none, development mode creates one;
 * otherwise the list is empty.
 */
export function readKeyRing(config: Pick<Config, "dev" | "dataDir" | "secretsKeys">): readonly Buffer[] {
  if (config.secretsKeys.length > 0) return config.secretsKeys;
  const file = path.join(config.dataDir, "secrets-key");
  return readKeys(file) ?? (config.dev ? makeKey(file) : []);
}

function readKeys(file: string): Buffer[] | undefined {
  let text: string;
  try {
    // Security case C2: a key that other users can read is not secret.
    if (process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0)
      throw new ConfigError(`secrets-key: ${file} can be read by others; set its mode to 0600.`);
    text = readTextFile(file);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    if (hasCode(error, "ENOENT")) return undefined;
    throw new ConfigError(`secrets-key: ${file} cannot be read: ${errorMessage(error, file)}.`);
  }
  const keys = toSecretsKeys(text.trim().replaceAll(/\s+/g, ","), `secrets-key: ${file}`);
  if (keys.length === 0) throw new ConfigError(`secrets-key: ${file} holds no key.`);
  return keys;
}

/** If two servers start on one directory, the first one creates the key. */
function makeKey(file: string): Buffer[] {
  makeDirectory(path.dirname(file));
  try {
    writeFileSync(file, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
  return readKeys(file) ?? [];
}
