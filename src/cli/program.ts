// The command line: what each command is called and takes. A command is loaded when it is run.
import { Command, CommanderError, Option } from "commander";
import { toConfig } from "../config.ts";
import { readSettings, settings, variableOf } from "../settings.ts";
import { version } from "../version.ts";

/** Runs one command line and answers its exit code. Wrong usage is 2; a setting that cannot be used is thrown. */
export async function runCommand(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  let exitCode = 0;
  const program = newProgram(environment, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
}

function newProgram(environment: NodeJS.ProcessEnv, finish: (exitCode: number) => void): Command {
  const program = new Command("gatehouse")
    .description("Identity, registry and vulnerability platform API server.")
    .version(version)
    .exitOverride();
  const configOf = (command: Command, overrides: Record<string, string> = {}) =>
    toConfig(readSettings({ ...command.opts(), ...overrides }, environment));
  /** Commands that work on the data need no public address of their own. */
  const dataConfigOf = (command: Command) =>
    configOf(command, command.opts().baseUrl || environment.GATEHOUSE_BASE_URL ? {} : { baseUrl: "http://127.0.0.1" });

  withSettings(program.command("serve"))
    .description("run the server")
    .action(async (_options, command) => finish(await (await import("./serve.ts")).serve(configOf(command))));

  withSettings(program.command("bootstrap"))
    .description("create the first organization and its owner")
    .requiredOption("--organization <name>", "name of the root group")
    .requiredOption("--issuer <url>", "issuer of the owner's identity tokens")
    .requiredOption("--subject <subject>", "subject of the owner's identity tokens")
    .action(async (options, command) =>
      finish(await (await import("./bootstrap.ts")).bootstrap(dataConfigOf(command), options)),
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

  for (const command of [program, db, keys, ...program.commands, ...db.commands, ...keys.commands])
    command.exitOverride();
  return program;
}

/** Gives a command a flag for every setting. */
function withSettings(command: Command): Command {
  command.option("--config <path>", "a JSON file of settings (GATEHOUSE_CONFIG)");
  for (const setting of settings) {
    const flag = "value" in setting ? `--${setting.name} <${setting.value}>` : `--${setting.name}`;
    const fallback = setting.fallback === "" || setting.fallback === "false" ? "" : `; ${setting.fallback}`;
    command.addOption(new Option(flag, `${setting.description} (${variableOf(setting.name)}${fallback})`));
  }
  return command;
}
