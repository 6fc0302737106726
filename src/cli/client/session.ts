// The session of a client command: server, token and output.
import type { Command } from "commander";
import { InvalidArgumentError, Option } from "commander";
import { type Format, formats } from "../output/formats.ts";
import type { Shell } from "../shell.ts";
import {
  audienceOption,
  clientOptionsOf,
  contextOption,
  outputGroup,
  outputOptions,
  serverGroup,
  urlOption,
} from "./options.ts";
import type { ClientOptions, Session } from "./session-types.ts";

export type { ClientOptions, Session } from "./session-types.ts";

/** Adds the flags of every client command; `audience` replaces the usual flag of that name. */
export function withClient(
  command: Command,
  outputs: readonly Format[] = formats,
  audience: Option = audienceOption(),
): Command {
  for (const option of [urlOption(), audience, contextOption()]) command.addOption(option.helpGroup(serverGroup));
  for (const option of outputs.length > 0 ? outputOptions(outputs) : [])
    command.addOption(option.helpGroup(outputGroup));
  return command;
}

/** Adds the flags of a command that prints a list. */
export function withList(command: Command, outputs: readonly Format[] = formats): Command {
  withClient(command, outputs);
  command.addOption(new Option("--sort <field[:desc]>", "the column or field to sort by").helpGroup(outputGroup));
  // A command whose limit reaches the server has a flag of its own.
  if (command.options.some(({ long }) => long === "--limit")) return command;
  return command.addOption(
    new Option("--limit <count>", "how many to show at most").argParser(readCount).helpGroup(outputGroup),
  );
}

/** Parses a positive integer. */
export function readCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && Number.isSafeInteger(count)) return count;
  throw new InvalidArgumentError("It is a whole number from 1.");
}

/**
 * Opens the session of a command that withClient was applied to. Nothing is sent before the first call. Expiring tokens
 * are renewed unless they are needed unchanged.
 */
export async function openSession(
  shell: Shell,
  command: Command,
  options: ClientOptions = clientOptionsOf(command),
  tokens: "renewed" | "as they are" = "renewed",
): Promise<Session> {
  // Help and completion need flags only.
  const { openSessionWith } = await import("./open-session.ts");
  return await openSessionWith(shell, command, options, tokens);
}
