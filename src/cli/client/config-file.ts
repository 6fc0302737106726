// The user's settings for client commands: server, group, output format. Not the settings of `serve`.

import { homedir } from "node:os";
import path from "node:path";
import { isJsonObject } from "../../base/json.ts";
import { wrongUsage } from "../failure.ts";
import { formats } from "../output/output.ts";
import type { Shell } from "../shell.ts";
import { addressProblem } from "./address.ts";
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

/** The name of a setting, such as `platform.api`. */
export type ConfigKey = keyof typeof configKeys;
/** The settings in the file. Unset ones are absent. */
export type ClientConfig = Readonly<Partial<Record<ConfigKey, string>>>;

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
  "output.format": (value) =>
    !formats.some((format) => format === value) && `${JSON.stringify(value)} is not one of ${formats.join(", ")}`,
};

/** Returns the path of the file. */
export function configPath({ environment }: Shell): string {
  const folder = environment.XDG_CONFIG_HOME || path.join(environment.HOME || homedir(), ".config");
  return path.join(folder, "gatehouse", "config.yaml");
}

/** Reads the settings; empty if there is no file. Throws if the file cannot be parsed. */
export async function readClientConfig(shell: Shell): Promise<ClientConfig> {
  const file = configPath(shell);
  const text = readIfThere(file);
  if (text === undefined) return {};
  const { parse } = await import("yaml");
  let content: unknown;
  try {
    content = parse(text) ?? {};
  } catch (error) {
    throw wrongUsage(`${file} is not YAML: ${error instanceof Error ? error.message.split("\n")[0] : error}`);
  }
  return flatten(content, file);
}

/** Sets one setting, or removes it if the value is undefined. Keeps the rest of the file, including comments. */
export async function writeClientConfig(shell: Shell, key: ConfigKey, value: string | undefined): Promise<string> {
  const file = configPath(shell);
  await readClientConfig(shell);
  const { parseDocument } = await import("yaml");
  const document = parseDocument(readIfThere(file) || "{}\n");
  const place = key.split(".");
  if (value !== undefined) document.setIn(place, value);
  else document.deleteIn(place);
  replaceFile(file, document.toString());
  return file;
}

/** Returns the key with this name. Wrong usage if there is none. */
export function parseConfigKey(text: string): ConfigKey {
  if (Object.hasOwn(configKeys, text)) return text as ConfigKey;
  throw wrongUsage(
    `there is no setting ${JSON.stringify(text)}`,
    `Settings are ${Object.keys(configKeys).join(", ")}.`,
  );
}

function flatten(content: unknown, file: string): ClientConfig {
  const found: Partial<Record<ConfigKey, string>> = {};
  for (const [section, members] of Object.entries(asObject(content, file))) {
    for (const [name, value] of Object.entries(asObject(members, `${file}: ${section}`))) {
      const key = `${section}.${name}`;
      if (!Object.hasOwn(configKeys, key)) throw wrongUsage(`${file} sets ${key}, which is not a setting`);
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
