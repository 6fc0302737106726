// The configuration file of container tools, and the credential helper that it names.
import { chmodSync, writeFileSync } from "node:fs";
import path from "node:path";
import { makeDirectory } from "../../base/directories.ts";
import { isJsonObject } from "../../base/json.ts";
import { programFile } from "../../base/program-file.ts";
import { requireHome } from "../client/home.ts";
import { readIfThere, replaceFile } from "../client/own-file.ts";
import { CommandFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";

/** The part of the helper's name after `docker-credential-`. */
const helper = "gatehouse";
const launcher = programFile("gatehouse.js");

/** Registers the credential helper for a registry. */
export function saveHelper(shell: Shell, host: string): string {
  return change(shell, (config) => {
    config.credHelpers = { ...asObject(config.credHelpers), [host]: helper };
  });
}

/** Stores a user name and a password for a registry. */
export function saveLogin(shell: Shell, host: string, user: string, password: string): string {
  return change(shell, (config) => {
    const auth = Buffer.from(`${user}:${password}`).toString("base64");
    config.auths = { ...asObject(config.auths), [host]: { auth } };
    // A helper would take precedence over the stored password.
    const { [host]: _ours, ...others } = asObject(config.credHelpers);
    if (config.credHelpers !== undefined) config.credHelpers = others;
  });
}

/** Writes the helper program for the registry of one server, and returns its path. */
export function writeHelper(folder: string, url: string, audience: string): string {
  const file = path.join(folder, `docker-credential-${helper}`);
  makeDirectory(folder, 0o777);
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  // Container tools start it without our environment variables.
  const words = [process.execPath, launcher, "auth", "docker-credential", "--url", url, "--audience", audience];
  writeFileSync(file, `#!/bin/sh\nexec ${words.map(quote).join(" ")} "$@"\n`);
  chmodSync(file, 0o755);
  return file;
}

/** Throws if the file exists but cannot be changed. */
export function checkDockerConfig(shell: Shell): void {
  read(configPath(shell));
}

function configPath(shell: Shell): string {
  const folder = shell.environment.DOCKER_CONFIG || path.join(requireHome(shell, "HOME or DOCKER_CONFIG"), ".docker");
  return path.join(folder, "config.json");
}

function change(shell: Shell, edit: (config: Record<string, unknown>) => void): string {
  const file = configPath(shell);
  const config = read(file);
  edit(config);
  replaceFile(file, `${JSON.stringify(config, null, 2)}\n`);
  return file;
}

function read(file: string): Record<string, unknown> {
  const text = readIfThere(file);
  if (text === undefined) return {};
  try {
    return asObject(JSON.parse(text));
  } catch {
    throw new CommandFailure(`${file} is not JSON; nothing was changed`);
  }
}

function asObject(value: unknown): Record<string, unknown> {
  return isJsonObject(value) ? { ...value } : {};
}
