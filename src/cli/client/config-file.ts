// The user's settings for client commands: server, group, output format. Not the settings of `serve`.
import path from "node:path";
import type { Document } from "yaml";
import { isJsonObject } from "../../base/json.ts";
import { notOneOf } from "../../base/similar.ts";
import { type CommandFailure, unknownValue, wrongUsage } from "../failure.ts";
import { formats } from "../output/formats.ts";
import type { Shell } from "../shell.ts";
import { addressProblem } from "./address.ts";
import { findHome, requireHome } from "./home.ts";
import { readIfThere, replaceFile } from "./own-file.ts";

/** The settings and what they mean. The names are those of chainctl. */
export const configKeys = {
  "platform.api": "the address of the server",
  "platform.audience": "the audience of tokens, when it is not the address",
  "platform.registry": "the host of the container registry, for configure-docker and pull-token",
  "default.group": "the group for commands without --parent, by name or uid",
  "default.identity-provider": "the identity provider or organization to sign in with",
  "output.format": "the output format for commands without -o",
} as const;

const contextsKey = "contexts";
const currentKey = "current-context";

/** The name of a setting, such as `platform.api`. */
export type ConfigKey = keyof typeof configKeys;
/** Settings. Unset ones are absent. */
export type ClientConfig = Readonly<Partial<Record<ConfigKey, string>>>;

/** The content of the file. */
export interface ConfigFile {
  /** The settings of every context. */
  readonly common: ClientConfig;
  /** The settings of each context, which replace the common ones. */
  readonly contexts: ReadonlyMap<string, ClientConfig>;
  /** The context of commands that name none. */
  readonly currentContext: string | undefined;
}

/** Validates a new value. */
export function checkConfigValue(key: ConfigKey, value: string): void {
  const problem = value === "" ? "must not be empty" : problems[key]?.(value);
  if (problem)
    throw wrongUsage(`${key}: ${problem}`, value === "" ? `Remove it with \`gatehouse config unset ${key}\`.` : "");
}

const problems: Readonly<Partial<Record<ConfigKey, (value: string) => string | false | undefined>>> = {
  "platform.api": addressProblem,
  "platform.registry": (value) =>
    !/^(\[[0-9a-f:]+\]|[\w.-]+)(:\d{1,5})?$/i.test(value) &&
    `${JSON.stringify(value)} is not a host such as cgr.example.com`,
  "output.format": (value) => !formats.some((format) => format === value) && notOneOf(value, formats),
};

/** Returns the path of the file; undefined without a home directory. */
export function configPath(shell: Shell): string | undefined {
  const home = findHome(shell);
  const folder = shell.environment.XDG_CONFIG_HOME || (home && path.join(home, ".config"));
  return folder && path.join(folder, "gatehouse", "config.yaml");
}

/** Returns the settings of the context that is in use. Throws if the file cannot be parsed. */
export async function readClientConfig(shell: Shell, named?: string): Promise<ClientConfig> {
  const file = await readConfigFile(shell);
  const context = contextInUse(shell, file, named);
  return context === undefined ? file.common : { ...file.common, ...file.contexts.get(context) };
}

/**
 * Returns the context to use: the named one, else that of GATEHOUSE_CONTEXT, else the current one of the file; undefined for none. Wrong
 * usage if the file does not have it.
 */
export function contextInUse({ environment }: Shell, file: ConfigFile, named?: string): string | undefined {
  const context = named ?? (environment.GATEHOUSE_CONTEXT || file.currentContext);
  if (context === undefined || file.contexts.has(context)) return context;
  throw unknownContext(file, context);
}

/** Returns the failure for a context that the file does not have. */
export function unknownContext({ contexts }: ConfigFile, context: string): CommandFailure {
  return unknownValue(
    `there is no context ${JSON.stringify(context)}`,
    context,
    [...contexts.keys()],
    contexts.size > 0
      ? `Contexts are ${[...contexts.keys()].join(", ")}.`
      : "Make one with `gatehouse config set platform.api URL --context NAME`.",
  );
}

/** Reads the file; without one, there are no settings. Throws if it cannot be parsed. */
export async function readConfigFile(shell: Shell): Promise<ConfigFile> {
  const file = configPath(shell);
  const text = file && readIfThere(file, 2);
  if (file === undefined || text === undefined) return { common: {}, contexts: new Map(), currentContext: undefined };
  const { readYaml } = await import("../yaml.ts");
  const content = readYaml(text, file) ?? {};
  const { contexts = {}, [currentKey]: currentContext, ...common } = asObject(content, file) as Record<string, unknown>;
  if (currentContext !== undefined && typeof currentContext !== "string")
    throw wrongUsage(`${file}: ${currentKey} must be a text`);
  return { common: flatten(common, file), contexts: readContexts(contexts, file), currentContext };
}

function readContexts(content: unknown, file: string): ReadonlyMap<string, ClientConfig> {
  const where = `${file}: ${contextsKey}`;
  return new Map(
    Object.entries(asObject(content, where)).map(([name, settings]) => {
      checkContextName(name);
      return [name, flatten(settings, `${where}: ${name}`)];
    }),
  );
}

/** Sets one setting, of a context if one is given, or removes it if the value is undefined. Returns the path of the file. */
export async function writeClientConfig(
  shell: Shell,
  key: ConfigKey,
  value: string | undefined,
  context?: string,
): Promise<string> {
  const place = [...(context === undefined ? [] : [contextsKey, context]), ...key.split(".")];
  return await changeConfigFile(shell, (document) => {
    if (value !== undefined) document.setIn(place, value);
    else document.deleteIn(place);
  });
}

/** Makes a context the current one; none without a name. Returns the path of the file. */
export async function writeCurrentContext(shell: Shell, context: string | undefined): Promise<string> {
  return await changeConfigFile(shell, (document) => {
    if (context !== undefined) document.set(currentKey, context);
    else document.delete(currentKey);
  });
}

/** Removes a context with its settings. Returns the path of the file. */
export async function deleteContext(shell: Shell, context: string): Promise<string> {
  return await changeConfigFile(shell, (document) => {
    document.deleteIn([contextsKey, context]);
    if (document.get(currentKey) === context) document.delete(currentKey);
  });
}

/** Changes the file, and keeps the rest of it, including comments. */
async function changeConfigFile(shell: Shell, change: (document: Document) => void): Promise<string> {
  const file = configPath(shell) ?? requireHome(shell, "HOME or XDG_CONFIG_HOME");
  await readConfigFile(shell);
  const { parseDocument } = await import("yaml");
  const document = parseDocument(readIfThere(file) || "{}\n");
  change(document);
  replaceFile(file, document.toString());
  return file;
}

/** Validates the name of a context. */
export function checkContextName(name: string): void {
  if (!/^[A-Za-z0-9][\w.-]{0,62}$/.test(name))
    throw wrongUsage(
      `${JSON.stringify(name)} is not a name of a context`,
      "A name has up to 63 letters, digits, dots, hyphens and underscores, and begins with a letter or digit.",
    );
}

/** Returns the key with this name. Wrong usage if there is none. */
export function parseConfigKey(text: string): ConfigKey {
  if (Object.hasOwn(configKeys, text)) return text as ConfigKey;
  throw unknownKey(`there is no setting ${JSON.stringify(text)}`, text);
}

function unknownKey(message: string, key: string): CommandFailure {
  const known = Object.keys(configKeys);
  return unknownValue(message, key, known, `Settings are ${known.join(", ")}.`);
}

function flatten(content: unknown, file: string): ClientConfig {
  const found: Partial<Record<ConfigKey, string>> = {};
  for (const [section, members] of Object.entries(asObject(content, file))) {
    for (const [name, value] of Object.entries(asObject(members, `${file}: ${section}`))) {
      const key = `${section}.${name}`;
      if (!Object.hasOwn(configKeys, key)) throw unknownKey(`${file} sets ${key}, which is not a setting`, key);
      if (typeof value !== "string") throw wrongUsage(`${file}: ${key} must be a text`);
      found[key as ConfigKey] = value;
    }
  }
  return found;
}

function asObject(value: unknown, where: string): object {
  if (isJsonObject(value)) return value;
  throw wrongUsage(`${where} must hold settings such as "platform: {api: https://…}"`);
}
