// The source files and what they import.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** One import of a file: a path below src, or `gen/…`, or the name of a package. */
export interface Import {
  readonly from: string;
  readonly target: string;
  readonly isType: boolean;
  readonly isPackage: boolean;
}

/** Every TypeScript file of src, relative to it. */
export const files: readonly string[] = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => file.endsWith(".ts"))
  .sort();

/** The code of each file, without its comments. */
export const codeOf: ReadonlyMap<string, string> = new Map(files.map((file) => [file, withoutComments(read(file))]));

/** Every import of every file: type imports, dynamic imports and `load("…")` included. */
export const imports: readonly Import[] = files.flatMap((from) => importsOf(from, codeOf.get(from) ?? ""));

function importsOf(from: string, code: string): Import[] {
  const statements = code.matchAll(
    /\b(?:import|export)\b( type)?(?:[^;"'`()]*? from)? "([^"]+)"|\b(import|load|loader\(import\.meta\.url\))\("([^"]+)"\)/g,
  );
  return [...statements].map((match) => {
    const name = match[2] ?? match[4] ?? "";
    const isPackage = !name.startsWith(".");
    const isType = match[1] !== undefined;
    return { from, target: isPackage ? packageOf(name) : resolve(from, name), isType, isPackage };
  });
}

function packageOf(name: string): string {
  if (name.startsWith("node:")) return "node";
  return name
    .split("/")
    .slice(0, name.startsWith("@") ? 2 : 1)
    .join("/");
}

function resolve(from: string, name: string): string {
  return path.posix.normalize(path.posix.join("src", path.posix.dirname(from), name)).replace(/^src\//, "");
}

function read(file: string): string {
  return readFileSync(path.join("src", file), "utf8");
}

/** Returns the code without its comments. */
export function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "");
}
