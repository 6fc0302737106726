// `gatehouse config`: the user's own settings.

import { Argument, type Command } from "commander";
import { type Completer, completing } from "./client/completing.ts";
import {
  type ConfigKey,
  checkConfigValue,
  checkContextName,
  configKeys,
  configPath,
  contextInUse,
  parseConfigKey,
  readClientConfig,
  readConfigFile,
  writeClientConfig,
} from "./client/config-file.ts";
import { clientOptionsOf, contextOption } from "./client/options.ts";
import { clientCommands } from "./command-names.ts";
import { addContextCommands } from "./context-commands.ts";
import { printable } from "./escape.ts";
import { CommandFailure } from "./failure.ts";
import { note, type Shell } from "./shell.ts";

const keyNames: Completer = async () =>
  Object.entries(configKeys).map(([value, description]) => ({ value, description }));

/** Adds the commands. */
export function addConfigCommands(program: Command, shell: Shell): void {
  const config = program.command("config").description(clientCommands.config);
  addSettingCommand(config, "view", "show all settings").action(async (_flags, command) => {
    await view(shell, contextOf(command));
  });
  addSettingCommand(config, "get", "print one setting")
    .addArgument(completing(new Argument("<key>"), keyNames))
    .action(async (text: string, _flags, command) => {
      const value = (await readClientConfig(shell, contextOf(command)))[parseConfigKey(text)];
      if (value === undefined) throw new CommandFailure(`${text} is not set`);
      shell.stdout.write(`${printable(value)}\n`);
    });
  addSettingCommand(config, "set", "change one setting")
    .addArgument(completing(new Argument("<key>"), keyNames))
    .argument("<value>")
    .action(async (text: string, value: string, _flags, command) => {
      const key = parseConfigKey(text);
      checkConfigValue(key, value);
      const context = await writtenContext(shell, contextOf(command));
      note(shell, `Written to ${placeOf(await writeClientConfig(shell, key, value, context), context)}.`);
    });
  addSettingCommand(config, "unset", "remove one setting")
    .addArgument(completing(new Argument("<key>"), keyNames))
    .action(async (text: string, _flags, command) => {
      await unset(shell, parseConfigKey(text), contextOf(command));
    });
  addContextCommands(config, shell);
}

/** Adds a command for the settings of a context. */
function addSettingCommand(config: Command, name: string, description: string): Command {
  return config.command(name).description(description).addOption(contextOption());
}

function contextOf(command: Command): string | undefined {
  return clientOptionsOf<{ context?: string }>(command).context;
}

async function view(shell: Shell, named: string | undefined): Promise<void> {
  const { alignedText } = await import("./output/table.ts");
  const context = contextInUse(shell, await readConfigFile(shell), named);
  const values = await readClientConfig(shell, named);
  const lines = Object.entries(configKeys).map(([key, meaning]) => [
    key,
    printable(values[key as ConfigKey] ?? "-"),
    meaning,
  ]);
  shell.stdout.write(await alignedText(lines));
  note(shell, placeOf(configPath(shell) ?? "there is no file: you have no home directory", context));
}

async function unset(shell: Shell, key: ConfigKey, named: string | undefined): Promise<void> {
  const file = await readConfigFile(shell);
  const context = contextInUse(shell, file, named);
  const settings = context === undefined ? file.common : file.contexts.get(context);
  note(
    shell,
    settings?.[key] === undefined
      ? `${key} is not set${context === undefined ? "" : ` in the context ${context}`}.`
      : `Written to ${placeOf(await writeClientConfig(shell, key, undefined, context), context)}.`,
  );
}

/** Returns the context that is written to: the named one, which may be new, else the one in use. */
async function writtenContext(shell: Shell, named: string | undefined): Promise<string | undefined> {
  if (named === undefined) return contextInUse(shell, await readConfigFile(shell));
  checkContextName(named);
  return named;
}

function placeOf(file: string, context: string | undefined): string {
  return context === undefined ? file : `the context ${context} in ${file}`;
}
