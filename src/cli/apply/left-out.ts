// Lists entries of directories that an apply does not read. It reports them, and a prune never deletes resources that they define.
import { readdirSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { isJsonObject } from "../../base/json.ts";
import { errorMessage, hasCode } from "../../base/system-error.ts";
import { readTextFile } from "../../base/text-file.ts";
import { wrongUsage } from "../failure.ts";
import { note, type Shell } from "../shell.ts";
import { readYamlDocuments } from "../yaml.ts";
import { documentKinds } from "./documents.ts";
import { isResourceFile, type LeftOut, type ResourceFiles } from "./resource-files.ts";

const maxShown = 20;

/** A longer text is not parsed: no request can have its resources. */
const maxParsed = 4 * 1024 * 1024;

/** Prints which entries are left out, and why. */
export function noteLeftOut(shell: Shell, { leftOut }: ResourceFiles): void {
  for (const { file, why } of leftOut.slice(0, maxShown)) note(shell, `left out: ${file}: ${why}`);
  if (leftOut.length > maxShown) note(shell, `left out: ${leftOut.length - maxShown} more`);
}

/** Wrong usage if an entry that is left out has resources: a prune would delete them. */
export function checkLeftOut({ leftOut, found }: ResourceFiles): void {
  const visited = new Set(found.keys());
  for (const entry of leftOut) {
    const defining = firstWithResources(entry, visited);
    if (defining === undefined) continue;
    throw wrongUsage(
      `${defining} has resources, which a prune would delete, since ${entry.file} is left out: ${entry.why}`,
      "Move it elsewhere, or name it with an -f of its own.",
    );
  }
}

function firstWithResources({ file }: LeftOut, visited: Set<string>): string | undefined {
  try {
    const [first] = filesWithResources(file, visited);
    return first;
  } catch (error) {
    throw wrongUsage(`${file} may have resources, which a prune would delete: ${errorMessage(error)}`);
  }
}

/** Finds files with resources that were not read. In a directory only those that are named as such files. */
function* filesWithResources(file: string, visited: Set<string>): Generator<string> {
  const real = realPathOf(file);
  if (real === undefined || visited.has(real)) return;
  visited.add(real);
  const stats = statSync(real);
  if (stats.isFile() && hasResources(file)) yield file;
  if (!stats.isDirectory()) return;
  for (const entry of readdirSync(real, { withFileTypes: true })) {
    if (entry.isDirectory() || entry.isSymbolicLink() || isResourceFile(entry.name))
      yield* filesWithResources(path.join(file, entry.name), visited);
  }
}

/** Returns undefined for a link that leads nowhere. */
function realPathOf(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ELOOP")) return undefined;
    throw error;
  }
}

function hasResources(file: string): boolean {
  const text = textOf(file);
  if (!/\bkind\b/.test(text)) return false;
  return text.length > maxParsed || valuesIn(text, file).some((value) => isJsonObject(value) && isKind(value.kind));
}

function isKind(text: unknown): boolean {
  return documentKinds.some((kind) => kind === text);
}

/** Returns an empty text for a file that no apply could read: one that is too large, or not UTF-8. */
function textOf(file: string): string {
  try {
    return readTextFile(file);
  } catch (error) {
    if (error instanceof Error && "code" in error) throw error;
    return "";
  }
}

function valuesIn(text: string, file: string): unknown[] {
  try {
    return readYamlDocuments(text, file).map(({ value }) => value);
  } catch {
    // A text that is not YAML has no resources.
    return [];
  }
}
