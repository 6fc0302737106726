// How the sources of a server become a bundle.
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { build } from "rolldown";
import { bundleDirectory, packagesFile, root } from "./place.js";

/**
 * The packages that a server needs at its start, and those that share messages with them. All others stay packages, for what
 * lies beside their modules.
 */
const bundled = [
  "@bufbuild/protobuf",
  "@connectrpc/connect",
  "@connectrpc/connect-node",
  "commander",
  "drizzle-orm",
  "lru-cache",
  "pino",
  "prom-client",
];

const source = path.join(root, "src");
const everyServers = ["main.ts", "cli/serve.ts", "storage/sqlite.ts"].map(inSource);
/** What no server loads. */
const clientCommands = inSource("cli/client-commands.ts");
/** What a loader of lazy.ts loads: a package, or a module of the project, which is an entry of the bundle by itself. */
const loads = /\bload\("([^"]+)"\)/g;

/** Writes the bundle to a directory and answers the files that it was made of, the packages as one. */
export async function buildBundle(dir) {
  const { output } = await build({
    cwd: root,
    platform: "node",
    logLevel: "warn",
    input: Object.fromEntries([inSource("main.ts"), ...loadedModules()].map((file) => [nameOf(file), file])),
    plugins: [
      { name: "packages", resolveId: leaveOut },
      { name: "places", load: withPlaces },
    ],
    output: {
      dir,
      format: "esm",
      entryFileNames: "[name].mjs",
      chunkFileNames: "[name]-[hash].mjs",
      // One file for what every server loads: these modules, and what they import.
      codeSplitting: { groups: [{ name: "server", test: (id) => everyServers.includes(id) }] },
    },
  });
  const files = output.flatMap(({ moduleIds = [] }) => moduleIds).filter((id) => path.isAbsolute(id));
  return [packagesFile, ...files.map((file) => path.relative(root, file)).filter((file) => !isOfPackage(file))];
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

function leaveOut(id, importer) {
  if (importer === undefined || isOfPackage(importer)) return undefined;
  if (path.resolve(path.dirname(importer), id) === clientCommands) return { id: clientCommands, external: "relative" };
  // What withPlaces wrote.
  if (/^\.\/.*\.mjs$/.test(id)) return { id, external: "relative" };
  const isPackage = !/^(node:|[./])/.test(id);
  const isBundled = bundled.some((name) => id === name || id.startsWith(`${name}/`));
  return isPackage && !isBundled ? { id, external: true } : undefined;
}

/** A module knows its place by the URL of its source, in the bundle too; what it loads is in the bundle as well. */
function withPlaces(file) {
  if (!file.endsWith(".ts") || isOfPackage(file)) return undefined;
  const fromBundle = path.relative(bundleDirectory, file).replaceAll(path.sep, "/");
  const code = readFileSync(file, "utf8")
    .replaceAll(loads, (_, specifier) => {
      if (!isRelative(specifier)) return `require("${specifier}")`;
      return `require("./${nameOf(path.resolve(path.dirname(file), specifier))}.mjs")`;
    })
    .replaceAll("import.meta.url", `new URL("${fromBundle}", import.meta.url).href`);
  return { code, moduleType: "ts" };
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
