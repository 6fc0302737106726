// `gatehouse config`: the user's own settings.
import { Argument, type Command } from "commander";
import { type Completer, completing } from "./client/completing.ts";
import {
  checkConfigValue,
  configKeys,
  configPath,
  parseConfigKey,
  readClientConfig,
  writeClientConfig,
} from "./client/config-file.ts";
import { printable } from "./escape.ts";
import { CommandFailure } from "./failure.ts";
import { note, type Shell } from "./shell.ts";

const keyNames: Completer = async () =>
  Object.entries(configKeys).map(([value, description]) => ({ value, description }));

/** Adds the commands. */
export function addConfigCommands(program: Command, shell: Shell): void {
  const config = program.command("config").description("your own settings: server, group, format");
  config
    .command("view")
    .description("show all settings")
    .action(async () => {
      const { alignedText } = await import("./output/table.ts");
      const values = await readClientConfig(shell);
      const lines = Object.entries(configKeys).map(([key, meaning]) => [
        key,
        printable(values[key as keyof typeof configKeys] ?? "-"),
        meaning,
      ]);
      shell.stdout.write(alignedText(lines));
      note(shell, configPath(shell));
    });
  config
    .command("get")
    .description("print one setting")
    .addArgument(completing(new Argument("<key>"), keyNames))
    .action(async (text: string) => {
      const value = (await readClientConfig(shell))[parseConfigKey(text)];
      if (value === undefined) throw new CommandFailure(`${text} is not set`);
      shell.stdout.write(`${printable(value)}\n`);
    });
  config
    .command("set")
    .description("change one setting")
    .addArgument(completing(new Argument("<key>"), keyNames))
    .argument("<value>")
    .action(async (text: string, value: string) => {
      const key = parseConfigKey(text);
      checkConfigValue(key, value);
      note(shell, `Written to ${await writeClientConfig(shell, key, value)}.`);
    });
  config
    .command("unset")
    .description("remove one setting")
    .addArgument(completing(new Argument("<key>"), keyNames))
    .action(async (text: string) => {
      const key = parseConfigKey(text);
      const isSet = (await readClientConfig(shell))[key] !== undefined;
      note(shell, isSet ? `Written to ${await writeClientConfig(shell, key, undefined)}.` : `${key} is not set.`);
    });
}
