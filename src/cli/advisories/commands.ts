// `gatehouse advisories import` and `export`.

import { type Command, InvalidArgumentError, Option } from "commander";
import type { ExportFormat } from "../../advisories/exported.ts";
import type { FormatName } from "../../advisories/formats.ts";
import { clientOptionsOf } from "../client/options.ts";
import { type ClientOptions, openSession, type Session, withClient } from "../client/session.ts";
import { clientCommands } from "../command-names.ts";
import { wrongUsage } from "../failure.ts";
import { groupOption } from "../resources/names.ts";
import type { Shell } from "../shell.ts";
import { addAffected } from "./affected-command.ts";
import { addChanges } from "./changes-command.ts";
import type { PruneBound } from "./import/prune.ts";

// Repeated here, because readers and writers are loaded when a command runs. By key, so the compiler reports a missing
// one.
const importFormats = namesOf<FormatName | "auto">({ auto: 1, osv: 1, secdb: 1, openvex: 1, csaf: 1, yaml: 1 });
const exportFormats = namesOf<ExportFormat>({ osv: 1, openvex: 1, csaf: 1, secdb: 1 });

function namesOf<N extends string>(names: Readonly<Record<N, 1>>): string[] {
  return Object.keys(names);
}

/** Adds the commands to those of advisories. */
export function addAdvisoryCommands(advisories: Command, shell: Shell, finish: (exitCode: number) => void): void {
  advisories.description(clientCommands.advisories);
  addAffected(advisories, shell);
  addChanges(advisories, shell);
  addImport(advisories, shell, finish);
  addExport(advisories, shell);
}

interface ImportFlags extends ClientOptions {
  readonly group?: string;
  readonly format: FormatName | "auto";
  readonly author: string;
  readonly dryRun?: boolean;
  readonly prune?: boolean;
  readonly maxPrune?: PruneBound;
  readonly timeout: number;
}

function addImport(advisories: Command, shell: Shell, finish: (exitCode: number) => void): void {
  const command = withClient(advisories.command("import"), ["table", "json", "yaml", "none"])
    .description("import advisories from files, directories and zip archives")
    .argument("<path...>", "OSV, secdb, OpenVEX or CSAF (JSON), or advisories in YAML; - is standard input")
    .addOption(groupOption("--group", "group that the advisories belong to (default.group)"))
    .addOption(new Option("--format <format>", "format of the files").choices(importFormats).default("auto"))
    .option("--author <name>", "name of the source, instead of what the files say", "")
    .option("--prune", "delete the records of these sources that are not in the files")
    .addOption(maxPruneOption())
    .option("--dry-run", "write nothing, and show the counts of the import")
    .addOption(timeoutOption());
  command.action(async (paths: string[], flags: ImportFlags) => {
    const { format, author, dryRun = false, prune = false, maxPrune, timeout } = flags;
    if (maxPrune && !prune) throw wrongUsage("--max-prune needs --prune");
    using session = await openSession(shell, command);
    const [{ importAdvisories }, { defaultBound }] = await Promise.all([
      import("./import/import-advisories.ts"),
      import("./import/prune.ts"),
    ]);
    const pruning = prune ? { prune: maxPrune ?? defaultBound } : { prune: undefined };
    const options = {
      group: await groupOf(session, flags),
      format,
      author,
      dryRun,
      timeoutMs: timeout * 1000,
      ...pruning,
    };
    finish(await importAdvisories(session, paths, options));
  });
}

function timeoutOption(): Option {
  return new Option(
    "--timeout <seconds>",
    "how long to wait for a response; after one that did not arrive, twice as long, up to 8 times",
  )
    .default(60)
    .argParser((text) => {
      if (/^\d{1,4}$/.test(text) && Number(text) > 0) return Number(text);
      throw new InvalidArgumentError("It is a number of seconds from 1 to 9999.");
    });
}

function maxPruneOption(): Option {
  return new Option(
    "--max-prune <bound>",
    "how many records of a source may be deleted, as a number or in percent (100 or 10 %, whichever is more)",
  ).argParser((text): PruneBound => {
    const [, number = "", percent = ""] = /^(\d{1,9})(%?)$/.exec(text) ?? [];
    if (number === "" || (percent !== "" && Number(number) > 100))
      throw new InvalidArgumentError("It is a number of records, such as 500, or a percentage, such as 10%.");
    return percent === ""
      ? { records: Number(number), percent: 0, text }
      : { records: 0, percent: Number(number), text };
  });
}

interface ExportFlags extends ClientOptions {
  readonly group?: string;
  readonly format: ExportFormat;
  readonly author: string;
  readonly ecosystem: string;
  readonly output?: string;
  readonly layout?: "osv-scanner";
}

function addExport(advisories: Command, shell: Shell): void {
  const command = withClient(advisories.command("export"), [])
    .description("write what is fixed, affected and not affected in the formats that scanners read")
    .addOption(groupOption("--group", "the group whose advisories are written (default.group)"))
    .addOption(new Option("--format <format>", "the format").choices(exportFormats).makeOptionMandatory())
    .option("--output <path>", "a file, or for osv a directory; by default standard output")
    .addOption(new Option("--layout <layout>", "for osv: the offline database of a scanner").choices(["osv-scanner"]))
    .option("--author <name>", "publisher, for openvex and csaf", "Gatehouse")
    .option(
      "--ecosystem <name>",
      "ecosystem of packages without a language, such as Wolfi or Alpine:v3.22",
      "Chainguard",
    );
  command.action(async (flags: ExportFlags) => {
    const { output, layout } = flags;
    if (layout && flags.format !== "osv") throw wrongUsage(`--layout ${layout} needs --format osv`);
    if (layout && output === undefined) throw wrongUsage(`--layout ${layout} needs a directory as --output`);
    if (flags.format === "osv") await checkEcosystem(flags.ecosystem);
    // Its --output is a path, not a format.
    const { output: _path, ...client } = clientOptionsOf<ClientOptions>(command);
    using session = await openSession(shell, command, client);
    const { exportAdvisories } = await import("./export.ts");
    const { format, author, ecosystem } = flags;
    await exportAdvisories(session, {
      group: await groupOf(session, flags),
      format,
      output,
      layout,
      author,
      ecosystem,
    });
  });
}

/** Other formats name no ecosystem, and accept any text as the name of a distribution. */
async function checkEcosystem(ecosystem: string): Promise<void> {
  const { ecosystemHint, ecosystemProblem } = await import("../../advisories/ecosystems.ts");
  const problem = ecosystemProblem(ecosystem);
  if (problem !== "") throw wrongUsage(`--ecosystem: ${problem}`, ecosystemHint);
}

async function groupOf(session: Session, flags: { readonly group?: string }): Promise<string> {
  const text = flags.group ?? session.config["default.group"];
  if (text === undefined || text === "")
    throw wrongUsage("a group is required", "Name it with --group, or set default.group.");
  const [{ findUid }, { groups }] = await Promise.all([
    import("../resources/lookup.ts"),
    import("../resources/groups.ts"),
  ]);
  return await findUid(session, groups, text);
}
