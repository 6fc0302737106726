// How the sources of a server become a bundle.
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { build } from "rolldown";
import { root } from "./place.js";

/**
 * The packages that a server needs at its start, and those that share messages with them; what they need is bundled with them.
 * All others stay packages, for what lies beside their modules.
 */
const bundled = [
  "@bufbuild/protobuf",
  "@connectrpc/connect",
  "@connectrpc/connect-node",
  "better-sqlite3",
  "commander",
  "drizzle-orm",
  "lru-cache",
  "pino",
  "prom-client",
];

/** What stays a package whoever needs it: there must be one copy of a driver. */
const drivers = ["pg"];
/** What finds the native part of better-sqlite3, by where it lies itself. */
const nativeFinder = path.join(root, "node_modules", "better-sqlite3", "lib", "binding.js");

/** What npm writes whenever it changes a package. */
const packagesFile = "node_modules/.package-lock.json";
/** How it is made is part of what it is made of. */
const recipe = [
  "package.json",
  packagesFile,
  "src/bundle/build.js",
  "src/bundle/make.js",
  "src/bundle/place.js",
  "src/bundle/snapshot.js",
];

const source = path.join(root, "src");
const everyServers = ["main.ts", "cli/serve.ts", "storage/engine/sqlite/sqlite.ts"].map(inSource);
/** What is run while a snapshot is made. */
const preparation = inSource("bundle/prepare.ts");
/** What no server loads: the client, which runs from its sources. */
const client = 'import("./client-commands.ts")';
const clientModule = inSource("cli/client-commands.ts");
/** What a loader of lazy.ts loads: a package, or a module of the project, which is an entry of the bundle by itself. */
const loads = /\bload\("([^"]+)"\)/g;

/**
 * Writes the bundle to a directory and answers the files that it was made of, below the root, all packages as one.
 *
 * @param {string} dir
 * @returns {Promise<string[]>}
 */
export async function buildBundle(dir) {
  const { output } = await build({
    cwd: root,
    platform: "node",
    logLevel: "warn",
    input: Object.fromEntries(
      [inSource("main.ts"), preparation, ...loadedModules()].map((file) => [nameOf(file), file]),
    ),
    plugins: [
      { name: "packages", resolveId: (id, importer) => leaveOut(id, importer, dir) },
      { name: "places", load: (file) => withPlaces(file, dir) },
    ],
    output: {
      dir,
      // Node makes an ES module of a built-in by reading all that it exports, which loads what nobody asks for.
      format: "cjs",
      entryFileNames: "[name].cjs",
      chunkFileNames: "[name]-[hash].cjs",
      // What a startup snapshot holds cannot import.
      dynamicImportInCjs: false,
      // In ASCII a character takes one byte of memory; with all else as it is, stack traces can be read.
      comments: false,
      minify: { compress: false, mangle: false, codegen: { asciiOnly: true, removeWhitespace: false } },
      // One file for what every server loads: these modules, and what they import.
      codeSplitting: { groups: [{ name: "server", test: (id) => everyServers.includes(id) }] },
    },
  });
  const files = output.flatMap(({ moduleIds = [] }) => moduleIds).filter((id) => path.isAbsolute(id));
  return [...recipe, ...files.map((file) => path.relative(root, file)).filter((file) => !isOfPackage(file))];
}

/** The modules of the project that requests load. */
function loadedModules() {
  return globSync("**/*.ts", { cwd: source })
    .map(inSource)
    .flatMap((file) => {
      const specifiers = [...readFileSync(file, "utf8").matchAll(loads)].map(([, specifier]) => specifier);
      return specifiers.filter(isRelative).map((specifier) => path.resolve(path.dirname(file), specifier));
    });
}

function leaveOut(id, importer, dir) {
  if (id === "./binding" && importer?.endsWith(path.join("better-sqlite3", "lib", "index.js")))
    return { id: fromBundle(nativeFinder, dir), external: true };
  const isPackage = !/^(node:|[./])/.test(id) && !path.isAbsolute(id);
  if (isPackage && isOneOf(drivers, id)) return { id, external: true };
  if (importer === undefined || isOfPackage(importer)) return undefined;
  // What withPlaces wrote.
  if (/^\.\/.*\.cjs$/.test(id)) return { id, external: "relative" };
  return isPackage && !isOneOf(bundled, id) ? { id, external: true } : undefined;
}

function isOneOf(packages, id) {
  return packages.some((name) => id === name || id.startsWith(`${name}/`));
}

/** A module knows its place by the URL of its source, in the bundle too; what it loads is in the bundle as well. */
function withPlaces(file, dir) {
  if (!file.endsWith(".ts") || isOfPackage(file)) return undefined;
  const urlOf = (place) =>
    `new URL(${JSON.stringify(encodeURI(fromBundle(place, dir)))}, require("node:url").pathToFileURL(__filename)).href`;
  const text = readFileSync(file, "utf8");
  const code = text
    .replaceAll(loads, (_, specifier) => {
      if (!isRelative(specifier)) return `require("${specifier}")`;
      return `require("./${nameOf(path.resolve(path.dirname(file), specifier))}.cjs")`;
    })
    .replaceAll("import.meta.url", urlOf(file))
    .replaceAll(client, `import(${urlOf(clientModule)})`);
  // What is loaded some other way would be loaded from the sources, as a second copy of the program.
  if (/\bconst load =/.test(code) && (/\bload\(/.test(code) || /\)\(\s*["'`]\./.test(text)))
    throw new Error(`${file}: load("…") takes a literal, on the same line`);
  return { code, moduleType: "ts" };
}

/** The way from the bundle to a file. */
function fromBundle(file, dir) {
  return path.relative(dir, file).replaceAll(path.sep, "/");
}

function inSource(file) {
  return path.join(source, file);
}

function isRelative(specifier) {
  return specifier.startsWith(".");
}

function isOfPackage(file) {
  return file.split(path.sep).includes("node_modules");
}

/** The name of the file that an entry becomes. */
function nameOf(file) {
  return path.relative(source, file).replace(/\.ts$/, "").replaceAll(path.sep, "-");
}
