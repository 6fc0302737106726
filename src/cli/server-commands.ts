// The commands that run or maintain a server: they work on its data, not through its API.

import { type Command, Option } from "commander";
import { toConfig } from "../config/config.ts";
import { readSettings, readSettingsFile, readSettingsFileAgain } from "../config/read-settings.ts";
import { type RawSettings, settings, variableOf } from "../config/settings.ts";
import { serverCommands } from "./command-names.ts";
import { exposedFiles } from "./exposed-files.ts";
import { hasLauncher } from "./launcher.ts";
import { removedSettings } from "./removed-settings.ts";
import type { Finish, Shell } from "./shell.ts";
import { unknownVariables } from "./unknown-variables.ts";
import { takeWorkerNumber } from "./workers/messages.ts";

/** Adds the commands. */
export function addServerCommands(program: Command, shell: Shell, finish: Finish): void {
  const { environment } = shell;
  const read: ReadSettings = (command) => readWarning(command, environment);
  addServe(program, environment, finish);
  addBootstrap(program, read, finish);
  addDatabase(program, read, shell, finish);
  addKeys(program, read, finish);
  addEmulator(program, finish);
}

type ReadSettings = (command: Command) => RawSettings;

/** Commands that work on data need no public address. */
const dataConfigOf = (raw: RawSettings) => toConfig({ ...raw, "base-url": raw["base-url"] || "http://127.0.0.1" });

/** Reads the settings, and prints warnings before they are validated: a missing setting may be a misspelt one. */
function readWarning(command: Command, environment: NodeJS.ProcessEnv): RawSettings {
  for (const sentence of unknownVariables(environment)) process.stderr.write(`gatehouse: ${sentence}\n`);
  const file = readSettingsFile(command.opts(), environment);
  const raw = readSettings(command.opts(), environment, file);
  for (const sentence of [...removedSettings(raw), ...exposedFiles(raw, file)])
    process.stderr.write(`gatehouse: ${sentence}\n`);
  return raw;
}

function addServe(program: Command, environment: NodeJS.ProcessEnv, finish: Finish): void {
  const checked = (raw: RawSettings) => ({ settings: raw, config: toConfig(raw) });
  withSettings(program.command("serve"))
    .description(serverCommands.serve)
    .action(async (_options, command) => {
      const worker = takeWorkerNumber(environment);
      if (worker !== undefined)
        return finish(await (await import("./workers/worker.ts")).serveAsWorker(worker, environment));
      const flags = command.opts();
      const reread = () => checked(readSettings(flags, environment, readSettingsFileAgain(flags, environment)));
      const options = {
        ...checked(readWarning(command, environment)),
        reread,
        environment,
        hasLauncher: hasLauncher(),
      };
      // The primary does not load the server.
      if (options.config.workers > 1)
        return finish(await (await import("./workers/primary.ts")).serveWithWorkers(options));
      finish(await (await import("./serve.ts")).serve(options));
    });
}

function addBootstrap(program: Command, read: ReadSettings, finish: Finish): void {
  withSettings(program.command("bootstrap"))
    .description(serverCommands.bootstrap)
    .requiredOption("--organization <name>", "name of the root group, or with --recover its uid; required")
    .requiredOption("--issuer <url>", "issuer of the owner's identity tokens; required")
    .requiredOption("--subject <subject>", "subject of the owner's identity tokens; required")
    .option("--recover", "make the person an owner of an existing organization, whose owners are gone")
    .action(async ({ recover, ...options }, command) => {
      const raw = read(command);
      const baseUrl = raw["base-url"].replace(/\/+$/, "");
      const { bootstrap, recoverOwner } = await import("./bootstrap.ts");
      finish(await (recover ? recoverOwner : bootstrap)(dataConfigOf(raw), { ...options, baseUrl }));
    });
}

function addDatabase(program: Command, read: ReadSettings, shell: Shell, finish: Finish): void {
  const db = program.command("db").description(serverCommands.db);
  withSettings(db.command("check"))
    .description("compare counters and indexes with the rows")
    .option("--repair", "rewrite those that differ")
    .action(async (options, command) =>
      finish(
        await (await import("./db.ts")).checkDatabaseCommand(dataConfigOf(read(command)), options.repair === true),
      ),
    );
  addMigrate(db, read, finish);
  addCopies(db, read, shell, finish);
}

function addMigrate(db: Command, read: ReadSettings, finish: Finish): void {
  withSettings(db.command("migrate"))
    .description("apply pending migrations")
    .option("--plan", "print them and change nothing; exit code 3 if there are some")
    .action(async (options, command) =>
      finish(await (await import("./migrate.ts")).migrateCommand(dataConfigOf(read(command)), options.plan === true)),
    );
}

function addCopies(db: Command, read: ReadSettings, shell: Shell, finish: Finish): void {
  withSettings(db.command("backup"))
    .description("write a snapshot of the database to a new file, while servers run")
    .argument("<file>", "the file, a SQLite database; must not exist")
    .action(async (file, _options, command) =>
      finish(await (await import("./db-copy.ts")).backUp(dataConfigOf(read(command)), file, shell)),
    );
  withSettings(db.command("restore"))
    .description("fill an empty database from a backup, and check it")
    .argument("<file>", "a file of db backup")
    .action(async (file, _options, command) =>
      finish(await (await import("./db-copy.ts")).restore(dataConfigOf(read(command)), file, shell)),
    );
  withSettings(db.command("copy"))
    .description("copy a snapshot of the database to another, empty one, and check it")
    .requiredOption("--to <url>", "postgres:// URL or path of a SQLite file; required")
    .action(async (options, command) =>
      finish(await (await import("./db-copy.ts")).copyTo(dataConfigOf(read(command)), options.to, shell)),
    );
}

function addKeys(program: Command, read: ReadSettings, finish: Finish): void {
  const keys = program.command("keys").description(serverCommands.keys);
  withSettings(keys.command("list"))
    .description("show the keys")
    .action(async (_options, command) =>
      finish(await (await import("./keys.ts")).listKeys(dataConfigOf(read(command)))),
    );
  withSettings(keys.command("rotate"))
    .description("sign with a new key; the old one stays valid for two more hours")
    .option("--retire-now", "retire the old keys at once, for example after a leak")
    .action(async (options, command) =>
      finish(await (await import("./keys.ts")).rotateKeys(dataConfigOf(read(command)), options.retireNow === true)),
    );
}

function addEmulator(program: Command, finish: Finish): void {
  program
    .command("emulator")
    .description(serverCommands.emulator)
    .option("--listen <host:port>", "address of loopback to listen on; a free port of 127.0.0.1 without it")
    .action(async ({ listen }) => finish(await (await import("./emulator/emulator.ts")).runEmulator(listen)));
}

/** The heading in the help, after the flags of the command itself. */
const settingsGroup = "Settings of the server:";

/** Adds a flag for every setting. */
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
