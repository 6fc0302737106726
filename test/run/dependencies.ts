// Finds the dependencies of a module: the modules that it imports, and the files and folders that it names.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

/** Paths relative to the root of the repository, with `/`. */
export interface Dependencies {
  readonly modules: readonly string[];
  /** Files, and folders with every file in them. */
  readonly data: readonly string[];
  /** Its folder, if it reads files there: depends on those that are not modules, in subfolders too. */
  readonly dataFolder?: string;
}

const modulePattern = /\.[cm]?[jt]s$/;

/** Type imports do not exist at run time, and tsc checks them. */
const typeImportPattern = /^(?:import|export)\s+type\s[^"';=]*\sfrom\s+"[^"]+"/gm;
const importPatterns = [
  /^(?:import|export)\s+(?:[^"';]*?\sfrom\s+)?"(\.{1,2}\/[^"]+)"/gm,
  /\b(?:import|require|load)\(\s*"(\.{1,2}\/[^"]+)"/g,
];
const literalPattern = /(new URL\(\s*)?["'`]([\w@.][\w@./*$-]*)/g;

export function isModule(file: string): boolean {
  return modulePattern.test(file);
}

/** Reads the dependencies of a module. `file` is relative to `root`. */
export function readDependencies(root: string, file: string): Dependencies {
  const text = readFileSync(path.join(root, file), "utf8").replace(typeImportPattern, "");
  const folder = path.posix.dirname(file);
  const exists = (name: string) => existsSync(path.join(root, name));
  const imported = importPatterns
    .flatMap((pattern) => [...text.matchAll(pattern)])
    .map(([, specifier]) => path.posix.join(folder, specifier!));
  const mayBeWord = /\.(?:test|full)\.ts$/.test(file) && /\b(?:readdirSync|globSync|cpSync)\(/.test(text);
  const named = [...text.matchAll(literalPattern)].flatMap(([, url, literal]) => {
    const name = fixedPart(literal!);
    const isRelative = url !== undefined || /^\.{1,2}\//.test(name);
    // A bare word such as "src" is a path only in tests that list folders.
    if (!isRelative && !/[/.]/.test(name) && !mayBeWord) return [];
    const resolved = path.posix.join(isRelative ? folder : "", name).replace(/\/$/, "");
    return resolved === "." || /^(?:\.\.|\/|node_modules)/.test(resolved) ? [] : [resolved];
  });
  const all = [...new Set([...imported, ...named])].filter(exists);
  return {
    modules: all.filter(isModule),
    data: all.filter((name) => !isModule(name)),
    ...(file.startsWith("test/") && text.includes("import.meta.") && { dataFolder: folder }),
  };
}

/** Returns the part of a path before the first wildcard or variable, in whole names. */
function fixedPart(literal: string): string {
  const [fixed = ""] = literal.split(/[*$]/);
  return fixed === literal ? literal : fixed.slice(0, fixed.lastIndexOf("/") + 1);
}
