// The manual pages, one for each command, made from the help: `npm run build` writes them to `dist/man`, or the folder given as argument.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Command, Help, Option } from "commander";
import { version } from "../src/base/version.ts";
import { examples } from "../src/cli/examples.ts";
import { pathOf } from "../src/cli/help.ts";
import { newProgram } from "../src/cli/program.ts";
import { processShell } from "../src/cli/shell.ts";

const root = path.resolve(import.meta.dirname, "..");

if (import.meta.main) await writeManPages(path.resolve(process.argv[2] ?? path.join(root, "dist/man")));

/** Writes a page for each command into a folder, and returns the names of the files. */
export async function writeManPages(folder: string): Promise<string[]> {
  mkdirSync(folder, { recursive: true });
  const program = await newProgram([], processShell({}), () => {});
  return withSubcommands(program).map((command) => {
    const file = `${nameOf(command)}.1`;
    writeFileSync(path.join(folder, file), pageOf(command));
    return file;
  });
}

/** Returns a command and its subcommands, without those that the help hides. */
function withSubcommands(command: Command): Command[] {
  return [command, ...subcommandsOf(command).flatMap(withSubcommands)];
}

function subcommandsOf(command: Command): Command[] {
  return command.createHelp().visibleCommands(command);
}

function nameOf(command: Command): string {
  return `gatehouse ${pathOf(command)}`.trim().replaceAll(" ", "-");
}

/** Returns the page of a command in the macros of man(7). */
function pageOf(command: Command): string {
  const help = command.createHelp();
  const description = help.commandDescription(command);
  const subcommands = subcommandsOf(command);
  const related = [...(command.parent ? [command.parent] : []), ...subcommands];
  const lines = [
    `.TH ${quoted(nameOf(command).toUpperCase())} 1 ${releaseDate()} ${quoted(`Gatehouse ${version}`)} "Gatehouse Manual"`,
    // Names of settings and commands are not hyphenated.
    ".nh",
    ".ad l",
    ...section("NAME", [`${escaped(nameOf(command))} \\- ${formatted(description.replace(/\.$/, ""))}`]),
    ...section("SYNOPSIS", [`.B ${escaped(help.commandUsage(command))}`]),
    ...section(
      "ARGUMENTS",
      help.visibleArguments(command).flatMap((one) => item(help.argumentTerm(one), help.argumentDescription(one))),
    ),
    ...optionSections(command, help),
    ...section(
      "COMMANDS",
      subcommands.flatMap((one) => item(help.subcommandTerm(one), help.subcommandDescription(one))),
    ),
    ...(command.parent
      ? []
      : section(
          "EXIT STATUS",
          exitCodes().flatMap(([code, meaning]) => item(code, meaning)),
        )),
    ...section("EXAMPLES", literal(examples[pathOf(command)] ?? [])),
    ...section("SEE ALSO", [related.map((one) => `.BR ${escaped(nameOf(one))} (1)`).join(" ,\n")]),
  ];
  return `${lines.join("\n")}\n`;
}

/** Returns a section for each group of options, in the order of the help. */
function optionSections(command: Command, help: Help): string[] {
  const visible = help.visibleOptions(command);
  // The types of commander want a list that can be changed.
  const groups = help.groupItems<Option>([...command.options], visible, (one) => one.helpGroupHeading ?? "Options:");
  return [...groups].flatMap(([title, options]) =>
    section(
      title.replace(/:$/, "").toUpperCase(),
      options.flatMap((one) => item(help.optionTerm(one), help.optionDescription(one))),
    ),
  );
}

function section(title: string, body: readonly string[]): string[] {
  return body.join("") === "" ? [] : [`.SH ${quoted(title)}`, ...body];
}

function item(term: string, description: string): string[] {
  return [".TP", `.B ${escaped(term)}`, formatted(description)];
}

/** Lines that are not filled. */
function literal(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [".nf", ...lines.map(escaped), ".fi"];
}

/** Text in which words between backticks are commands. */
function formatted(text: string): string {
  return escaped(text).replaceAll(/`([^`]+)`/g, "\\fB$1\\fP");
}

/** Backslashes and hyphens have a meaning in roff; dots and quotes have one at the beginning of a line. */
function escaped(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll(/^(?=[.'])/gm, "\\&");
}

function quoted(text: string): string {
  return `"${escaped(text).replaceAll('"', "\\(dq")}"`;
}

/** Returns the date of the latest release: the same commit makes the same pages. */
function releaseDate(): string {
  const changelog = readFileSync(path.join(root, "CHANGELOG.md"), "utf8");
  const [, date] = /^## \d\S* - (\d{4}-\d{2}-\d{2})$/m.exec(changelog) ?? [];
  if (date === undefined) throw new Error("CHANGELOG.md has no release with a date");
  return date;
}

/** Returns the rows of the table of exit codes in the reference. */
function exitCodes(): [code: string, meaning: string][] {
  const reference = readFileSync(path.join(root, "docs/reference/cli.md"), "utf8");
  const [, table = ""] = /^## Exit codes\n\n\|.*\n\|.*\n((?:\|.*\n)+)/m.exec(reference) ?? [];
  const rows = table.matchAll(/^\| (.+?) \| (.+) \|$/gm);
  const codes = [...rows].map(([, code, meaning]): [string, string] => [code!, meaning!]);
  if (codes.length === 0) throw new Error("docs/reference/cli.md has no table of exit codes");
  return codes;
}
