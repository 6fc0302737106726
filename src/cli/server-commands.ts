// The commands that run or look after a server: they work on its data, not through its API.
import { type Command, Option } from "commander";
import { toConfig } from "../config.ts";
import { type Flags, readSettings, settings, variableOf } from "../settings.ts";
import { exposedFiles } from "./exposed-files.ts";
import { hasLauncher } from "./launcher.ts";
import type { Finish } from "./shell.ts";
import { unknownVariables } from "./unknown-variables.ts";

/** Their names. */
export const serverCommands = ["serve", "bootstrap", "db", "keys"] as const;

/** Adds them. */
export function addServerCommands(program: Command, environment: NodeJS.ProcessEnv, finish: Finish): void {
  const flagsOf = (command: Command, overrides: Flags = {}): Flags => ({ ...command.opts(), ...overrides });
  const read = (command: Command, overrides?: Flags) => {
    const raw = readSettings(flagsOf(command, overrides), environment);
    return { settings: raw, config: toConfig(raw) };
  };
  const warn = (command: Command, overrides?: Flags) => {
    // Before a setting is missed, which may be the one that is misspelt.
    for (const sentence of unknownVariables(environment)) process.stderr.write(`gatehouse: ${sentence}\n`);
    const flags = flagsOf(command, overrides);
    for (const sentence of exposedFiles(readSettings(flags, environment), flags, environment))
      process.stderr.write(`gatehouse: ${sentence}\n`);
  };
  const configOf = (command: Command, overrides?: Flags) => {
    warn(command, overrides);
    return read(command, overrides).config;
  };
  /** Commands that work on the data need no public address of their own. */
  const dataConfigOf = (command: Command) =>
    configOf(command, command.opts().baseUrl || environment.GATEHOUSE_BASE_URL ? {} : { baseUrl: "http://127.0.0.1" });

  withSettings(program.command("serve"))
    .description("run the server")
    .action(async (_options, command) => {
      warn(command);
      const options = { ...read(command), reread: () => read(command), hasLauncher: hasLauncher() };
      finish(await (await import("./serve.ts")).serve(options));
    });

  withSettings(program.command("bootstrap"))
    .description("create the first organization and its owner")
    .requiredOption("--organization <name>", "name of the root group; required")
    .requiredOption("--issuer <url>", "issuer of the owner's identity tokens; required")
    .requiredOption("--subject <subject>", "subject of the owner's identity tokens; required")
    .action(async (options, command) =>
      finish(
        await (await import("./bootstrap.ts")).bootstrap(dataConfigOf(command), {
          ...options,
          baseUrl: readSettings(command.opts(), environment)["base-url"].replace(/\/+$/, ""),
        }),
      ),
    );

  const db = program.command("db").description("look after the database");
  withSettings(db.command("check"))
    .description("compare counters and indexes with the rows")
    .option("--repair", "write them anew where they differ")
    .action(async (options, command) =>
      finish(await (await import("./db.ts")).checkDatabaseCommand(dataConfigOf(command), options.repair === true)),
    );

  const keys = program.command("keys").description("look after the keys that sign tokens");
  withSettings(keys.command("list"))
    .description("show the keys")
    .action(async (_options, command) => finish(await (await import("./keys.ts")).listKeys(dataConfigOf(command))));
  withSettings(keys.command("rotate"))
    .description("sign with a new key; the old one verifies for two more hours")
    .option("--retire-now", "let the old keys verify no longer, as after a leak")
    .action(async (options, command) =>
      finish(await (await import("./keys.ts")).rotateKeys(dataConfigOf(command), options.retireNow === true)),
    );
}

/** The heading of the help under which they stand, after what is peculiar to a command. */
const settingsGroup = "Settings of the server:";

/** Gives a command a flag for every setting. */
function withSettings(command: Command): Command {
  const file = new Option("--config <path>", "a JSON file of settings (GATEHOUSE_CONFIG)");
  command.addOption(file.helpGroup(settingsGroup));
  for (const setting of settings) {
    const flag = "value" in setting ? `--${setting.name} <${setting.value}>` : `--${setting.name}`;
    const fallback = setting.fallback === "" || setting.fallback === "false" ? "" : `; ${setting.fallback}`;
    const description = `${setting.description} (${variableOf(setting.name)}${fallback})`;
    command.addOption(new Option(flag, description).helpGroup(settingsGroup));
  }
  return command;
}
