// Reads files of resources.
import { wrongUsage } from "../failure.ts";
import { readInput } from "../input.ts";
import { note, type Shell } from "../shell.ts";
import { type Located, type Reading, readDocuments } from "./documents.ts";
import { checkLeftOut, noteLeftOut } from "./left-out.ts";
import { findResourceFiles } from "./resource-files.ts";

/** The maximum size of all files: a request has at most 4 MiB, and YAML is longer than that. */
const maxCharacters = 64 * 1024 * 1024;

/**
 * Reads the resources of files, of directories with everything below, and of standard input for `-`. Entries of directories that are
 * left out are named on standard error; with `prune` they must not have resources.
 */
export async function readResources(shell: Shell, paths: readonly string[], prune: boolean): Promise<Located[]> {
  const reading: Reading = {
    environment: shell.environment,
    onMissingVariable: (variable, place) =>
      note(shell, `${place}: ${variable} is not set: a stored client secret stays, a new identity provider gets none`),
  };
  const found = findResourceFiles(paths);
  noteLeftOut(shell, found);
  if (prune) checkLeftOut(found);
  const resources: Located[] = [];
  let size = 0;
  for (const name of found.files) {
    const content = await readInput(shell, name);
    size += content.length;
    if (size > maxCharacters) throw wrongUsage(`the files have more than ${maxCharacters / 1024 / 1024} Mi characters`);
    resources.push(...readDocuments(content, name === "-" ? "standard input" : name, reading));
  }
  return resources;
}
