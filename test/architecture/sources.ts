// The source files and what they import.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** One import of a file: a path below the folder of the sources, or `gen/…`, or the name of a package. */
export interface Import {
  readonly from: string;
  readonly target: string;
  readonly isType: boolean;
  readonly isPackage: boolean;
}

/** The source files below a folder, and what they import. */
export interface Sources {
  /** Every file of TypeScript, relative to the folder. */
  readonly files: readonly string[];
  /** The code of each file, without its comments. */
  readonly codeOf: ReadonlyMap<string, string>;
  /** Every import of every file: type imports, dynamic imports and `load("…")` included. */
  readonly imports: readonly Import[];
}

/** Reads the source files below a folder of the repository. */
export function readSources(root: string): Sources {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => /\.tsx?$/.test(file))
    .sort();
  const codeOf = new Map(files.map((file) => [file, withoutComments(readFileSync(path.join(root, file), "utf8"))]));
  return { files, codeOf, imports: files.flatMap((from) => importsOf(root, from, codeOf.get(from) ?? "")) };
}

/** The source files of the server and the command line. */
export const { files, codeOf, imports } = readSources("src");

function importsOf(root: string, from: string, code: string): Import[] {
  const statements = code.matchAll(
    /\b(?:import|export)\b( type)?(?:[^;"'`()]*? from)? "([^"]+)"|\b(import|load|loader\(import\.meta\.url\))\("([^"]+)"\)/g,
  );
  return [...statements].map((match) => {
    const name = match[2] ?? match[4] ?? "";
    const isPackage = !name.startsWith(".");
    const isType = match[1] !== undefined;
    return { from, target: isPackage ? packageOf(name) : resolve(root, from, name), isType, isPackage };
  });
}

function packageOf(name: string): string {
  if (name.startsWith("node:")) return "node";
  return name
    .split("/")
    .slice(0, name.startsWith("@") ? 2 : 1)
    .join("/");
}

function resolve(root: string, from: string, name: string): string {
  const target = path.posix.normalize(path.posix.join(root, path.posix.dirname(from), name));
  return target.startsWith(`${root}/`) ? target.slice(root.length + 1) : target;
}

/** Returns the code without its comments. */
export function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "");
}
