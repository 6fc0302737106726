// Reads the settings: flags override environment variables, which override the file, which overrides defaults.
import { statSync } from "node:fs";
import { isJsonObject } from "../base/json.ts";
import { errorMessage } from "../base/system-error.ts";
import { readTextFile } from "../base/text-file.ts";
import {
  ConfigError,
  type ProxySettings,
  type RawSettings,
  type Setting,
  type SettingName,
  settings,
  variableOf,
} from "./settings.ts";

/** Settings by name in camelCase, as commander passes flags. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** A settings file and its content. */
export interface SettingsFile {
  readonly path: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** Reads the settings from flags, environment and file, in this order. */
export function readSettings(
  flags: Flags,
  environment: NodeJS.ProcessEnv,
  file: SettingsFile | undefined = readSettingsFile(flags, environment),
): RawSettings {
  const chosen = settings.map((setting) => {
    const { name, fallback } = setting;
    const value = flags[camelCase(name)] ?? readVariable(environment, setting) ?? file?.settings[name];
    return [name, value === undefined ? fallback : String(value)];
  });
  return Object.fromEntries(chosen) as RawSettings;
}

/** Reads the proxy settings of client commands, which have only variables. */
export function readProxySettings(environment: NodeJS.ProcessEnv): ProxySettings {
  const chosen = settings
    .filter((setting) => "commonVariable" in setting)
    .map((setting) => [setting.name, readVariable(environment, setting) ?? setting.fallback]);
  return Object.fromEntries(chosen) as ProxySettings;
}

function readVariable(environment: NodeJS.ProcessEnv, { name, commonVariable }: Setting): string | undefined {
  const own = environment[variableOf(name as SettingName)];
  if (own !== undefined || commonVariable === undefined) return own;
  // As in curl. An empty variable counts as unset.
  return environment[commonVariable.toLowerCase()] || environment[commonVariable] || undefined;
}

/** Reads the settings file; undefined if none is named. Call it once per command, because the file may be a pipe. */
export function readSettingsFile(flags: Flags, environment: NodeJS.ProcessEnv): SettingsFile | undefined {
  const path = configPathOf(flags, environment);
  return path === undefined ? undefined : { path, settings: settingsIn(path) };
}

/**
 * Reads the file again for a running server. Throws a ConfigError for a pipe: waiting for another writer would stop the
 * server.
 */
export function readSettingsFileAgain(flags: Flags, environment: NodeJS.ProcessEnv): SettingsFile | undefined {
  const path = configPathOf(flags, environment);
  if (path !== undefined && statSync(path, { throwIfNoEntry: false })?.isFIFO())
    throw new ConfigError(`config: ${path} is a pipe, which can only be read at the start.`);
  return readSettingsFile(flags, environment);
}

function configPathOf(flags: Flags, environment: NodeJS.ProcessEnv): string | undefined {
  // An empty variable counts as unset; a flag must name a file.
  if (flags.config === "") throw new ConfigError("config: the path is empty.");
  return flags.config?.toString() ?? (environment.GATEHOUSE_CONFIG || undefined);
}

/** Returns the settings of a file by name. Throws a ConfigError if it is not valid. */
function settingsIn(file: string): Record<string, string> {
  let content: unknown;
  let repeated: string | undefined;
  try {
    const text = readTextFile(file);
    content = JSON.parse(text);
    repeated = repeatedName(text);
  } catch (error) {
    throw new ConfigError(`config: ${file} cannot be read as JSON: ${errorMessage(error, file)}.`);
  }
  if (!isJsonObject(content)) throw new ConfigError(`config: ${file} must hold an object.`);
  if (repeated !== undefined) throw new ConfigError(`config: ${file} sets ${repeated} twice.`);
  const known: readonly string[] = settings.map(({ name }) => name);
  const unknown = Object.keys(content).find((key) => !known.includes(key));
  if (unknown !== undefined) throw new ConfigError(`config: ${file} sets ${unknown}, which is not a setting.`);
  return Object.fromEntries(Object.entries(content).map(([name, value]) => [name, textOf(value, name, file)]));
}

/** Returns a member name that valid JSON has twice. A settings file has one object: no other can be valid in it. */
function repeatedName(text: string): string | undefined {
  const literals = [...text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?/g)];
  const names = literals.filter(([, , colon]) => colon).map(([, name]) => String(JSON.parse(name!)));
  return names.find((name, i) => names.indexOf(name) !== i);
}

/** Converts a value of the file to the text of a flag. Errors do not contain the value: it may be a secret. */
function textOf(value: unknown, name: string, file: string): string {
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value.join(",");
  if (["string", "boolean", "number"].includes(typeof value)) return String(value);
  throw new ConfigError(`config: ${file}: ${name} must be a text, a number, true or false, or a list of texts.`);
}

function camelCase(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
