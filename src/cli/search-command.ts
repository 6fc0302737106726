// `gatehouse search`: finds resources and people by words.
import type { JsonObject } from "@bufbuild/protobuf";
import { type Command, Option } from "commander";
import { openSession, withList } from "./client/session.ts";
import { clientCommands } from "./command-names.ts";
import { rowFormats } from "./output/formats.ts";
import type { View } from "./output/view.ts";
import { textAt } from "./resources/json.ts";
import { groupOption } from "./resources/names.ts";
import { searchedKinds, searchResources } from "./resources/search.ts";
import type { Shell } from "./shell.ts";

const view: View = {
  noun: "results",
  columns: [
    { title: "kind", value: "kind" },
    { title: "name", value: ({ name, uid }) => String(name || uid) },
    { title: "address or path", value: (row) => textAt(row, "email") || pathOf(row) },
    { title: "uid", value: "uid" },
    { title: "description", value: "description", wide: true },
  ],
};

/** Adds the command. */
export function addSearchCommand(program: Command, shell: Shell): void {
  const command = program
    .command("search")
    .description(clientCommands.search)
    .argument("<words...>", "words of a name or an address, or their beginnings; or a uid")
    .addOption(groupOption("--parent", "the group to search (default.group, or your only organization)"))
    .addOption(new Option("--kind <kind>", "only resources of this kind").choices(searchedKinds));
  withList(command, rowFormats).action(async (words: string[]) => {
    using session = await openSession(shell, command);
    const rows = await searchResources(session, words.join(" "), command.opts<{ parent?: string; kind?: string }>());
    await session.output.list(view, session.output.arrange(view, rows, "as it is"));
  });
}

function pathOf({ path }: JsonObject): string {
  const parts = Array.isArray(path) ? (path as JsonObject[]) : [];
  return parts.map((part) => textAt(part, "name") || textAt(part, "uid").slice(-16)).join("/");
}
