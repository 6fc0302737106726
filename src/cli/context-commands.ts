// `gatehouse config get-contexts` and others: named sets of settings, one for each server or organization.
import { Argument, type Command, Option } from "commander";
import { type Completer, completing } from "./client/completing.ts";
import {
  contextInUse,
  deleteContext,
  readConfigFile,
  unknownContext,
  writeCurrentContext,
} from "./client/config-file.ts";
import { clientOptionsOf } from "./client/options.ts";
import { withList } from "./client/session.ts";
import { CommandFailure, wrongUsage } from "./failure.ts";
import { narrowFormats } from "./output/formats.ts";
import type { OutputOptions } from "./output/output.ts";
import type { View } from "./output/view.ts";
import { note, type Shell } from "./shell.ts";

/** Completes the names of contexts. */
export const contextNames: Completer = async ({ shell }) => {
  const { contexts } = await readConfigFile(shell);
  return [...contexts].map(([value, settings]) => ({ value, description: settings["platform.api"] ?? "" }));
};

const view: View = {
  noun: "contexts",
  id: "name",
  columns: [
    { title: "current", value: ({ current }) => (current === true ? "*" : ""), member: "current" },
    { title: "name", value: "name" },
    { title: "address", value: "address" },
    { title: "group", value: "group" },
  ],
};

/** Adds the commands. */
export function addContextCommands(config: Command, shell: Shell): void {
  const list = config.command("get-contexts").description("list the contexts; * marks the one in use");
  withList(list, narrowFormats).action(async () => {
    await listContexts(shell, list);
  });
  config
    .command("use-context")
    .description("use the settings of a context from now on")
    .addArgument(completing(new Argument("[name]"), contextNames))
    .addOption(new Option("--none", "use only the settings that belong to no context"))
    .action(async (name: string | undefined, { none = false }: { none?: boolean }) => {
      await useContext(shell, name, none);
    });
  config
    .command("current-context")
    .description("print the context in use")
    .action(async () => {
      const context = contextInUse(shell, await readConfigFile(shell));
      if (context === undefined) throw new CommandFailure("no context is in use");
      shell.stdout.write(`${context}\n`);
    });
  config
    .command("delete-context")
    .description("remove a context and its settings; tokens stay in the token cache")
    .addArgument(completing(new Argument("<name>"), contextNames))
    .action(async (name: string) => {
      const file = await readConfigFile(shell);
      if (!file.contexts.has(name)) throw unknownContext(file, name);
      note(shell, `Deleted from ${await deleteContext(shell, name)}.`);
    });
}

async function listContexts(shell: Shell, command: Command): Promise<void> {
  const {
    output: format = "table",
    context: named,
    ...options
  } = clientOptionsOf<Partial<OutputOptions> & { output?: string; context?: string }>(command);
  const file = await readConfigFile(shell);
  const used = contextInUse(shell, file, named);
  const { openOutput } = await import("./output/output.ts");
  const output = await openOutput(shell, { ...options, format });
  const rows = [...file.contexts].map(([name, own]) => {
    const settings = { ...file.common, ...own };
    const [address = "", group = ""] = [settings["platform.api"], settings["default.group"]];
    return { name, address, group, current: name === used };
  });
  await output.list(view, output.arrange(view, rows, "as it is"));
}

async function useContext(shell: Shell, name: string | undefined, none: boolean): Promise<void> {
  if ((name === undefined) !== none) throw wrongUsage("name a context, or use --none");
  const file = await readConfigFile(shell);
  if (name !== undefined && !file.contexts.has(name)) throw unknownContext(file, name);
  const path = await writeCurrentContext(shell, name);
  note(shell, name === undefined ? `No context is in use: ${path}.` : `Using the context ${name}: ${path}.`);
  const { GATEHOUSE_CONTEXT: variable, GATEHOUSE_URL: url } = shell.environment;
  if (variable && variable !== name) note(shell, `GATEHOUSE_CONTEXT is set, and still selects ${variable}.`);
  if (name === undefined || !url) return;
  note(
    shell,
    `GATEHOUSE_URL is set, and comes before the address of the context: unset it, or name the context with --context.`,
  );
}
