// Finds and reads files of resources.
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { errorMessage, hasCode } from "../../base/system-error.ts";
import { wrongUsage } from "../failure.ts";
import { note, type Shell } from "../shell.ts";
import { type Located, type Reading, readDocuments } from "./documents.ts";

/** The maximum size of all files: a request has at most 4 MiB, and YAML is longer than that. */
const maxBytes = 64 * 1024 * 1024;

/** Reads the resources of files, of directories with everything below, and of standard input for `-`. */
export async function readResources(shell: Shell, paths: readonly string[]): Promise<Located[]> {
  const reading: Reading = {
    environment: shell.environment,
    onMissingVariable: (variable, place) =>
      note(shell, `${place}: ${variable} is not set: a stored client secret stays, a new identity provider gets none`),
  };
  const found: Located[] = [];
  let size = 0;
  for (const name of paths.flatMap(filesIn)) {
    const content = name === "-" ? await text(shell.stdin) : readFile(name);
    size += content.length;
    if (size > maxBytes) throw wrongUsage(`the files have more than ${maxBytes / 1024 / 1024} MiB`);
    found.push(...readDocuments(content, name === "-" ? "standard input" : name, reading));
  }
  return found;
}

function readFile(name: string): string {
  try {
    return readFileSync(name, "utf8");
  } catch (error) {
    throw wrongUsage(`${name} cannot be read: ${errorMessage(error, name)}`);
  }
}

/** Returns a file, or the YAML and JSON files of a directory in the order of their names. Hidden ones are left out. */
function filesIn(name: string): string[] {
  if (name === "-") return [name];
  try {
    if (!statSync(name).isDirectory()) return [name];
    const entries = readdirSync(name, { withFileTypes: true, recursive: true });
    const files = entries
      .filter((entry) => entry.isFile() && /\.(ya?ml|json)$/.test(entry.name))
      .map((entry) => path.join(entry.parentPath, entry.name))
      .filter(
        (file) =>
          !path
            .relative(name, file)
            .split(path.sep)
            .some((part) => part.startsWith(".")),
      )
      .sort();
    if (files.length === 0) throw wrongUsage(`${name} has no files that end in .yaml, .yml or .json`);
    return files;
  } catch (error) {
    if (error instanceof Error && "code" in error) {
      const hint = hasCode(error, "ENOENT") ? "`gatehouse export GROUP DIRECTORY` writes the files to begin with." : "";
      throw wrongUsage(`${name} cannot be read: ${errorMessage(error, name)}`, hint);
    }
    throw error;
  }
}
