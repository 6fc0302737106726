// `npm run build`: bundles the program, which then starts in half of the time (docs/decisions/0053, 0083). Writes `dist/`, or the
// folder given as argument.
import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { noticesOf } from "./notices.js";
import { checkOfNode, oldestNode } from "./oldest-node.js";

console.log("Bundling the program…");
const { build } = await import("rolldown");

const root = path.resolve(import.meta.dirname, "..");
const dist = path.resolve(process.argv[2] ?? path.join(root, "dist"));

/** Packages that are not in the bundle: native code, and an optional package of `pg`. */
const external = ["better-sqlite3", "pg-native"];

/** Files that the program opens by path, relative to `src` and to `dist` (src/base/program-file.ts). */
const files = [
  "storage/schema/migrations",
  "storage/engine/sqlite/checkpoint-thread.cjs",
  "storage/engine/sqlite/query-thread.cjs",
];

/** The thread that reads SBOMs, relative to `src` and to `dist`. It is opened by path, and is one file: it needs little of the program. */
const thread = "sboms/read-thread.js";

// All but the console, which console/build.js makes.
for (const name of existsSync(dist) ? readdirSync(dist) : [])
  if (name !== "console") rmSync(path.join(dist, name), { recursive: true });
/** The imports of each module. */
const graph = new Map();
let groups;
await build({
  cwd: root,
  input: { gatehouse: "build/launcher.js" },
  platform: "node",
  transform: { target: `node${oldestNode}` },
  preserveEntrySignatures: false,
  logLevel: "warn",
  // depd, of oidc-provider, makes a function with eval, for deprecated methods. Some modules are in a chunk that is loaded before.
  checks: { eval: false, ineffectiveDynamicImport: false },
  onLog(level, log, next) {
    // A package that is not installed would be missing in the installed program, too.
    next(log.code === "UNRESOLVED_IMPORT" ? "error" : level, log);
  },
  external: external.map((name) => new RegExp(`^${name}(/|$)`)),
  plugins: [
    { name: "graph", moduleParsed: (module) => void graph.set(module.id, module) },
    { name: "drizzle", transform: { filter: { id: /storage\/schema\/drizzle\.ts$/ }, handler: requireDrizzle } },
  ],
  output: {
    dir: dist,
    // Node loads CommonJS in less time: a command starts in five sixths of the time of ES modules.
    format: "cjs",
    comments: false,
    banner: ({ isEntry }) => (isEntry ? checkOfNode() : ""),
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: groupOf, debugName: "groups" }] },
  },
});
await build({
  cwd: root,
  input: `src/${thread}`,
  platform: "node",
  transform: { target: `node${oldestNode}` },
  logLevel: "warn",
  output: { file: path.join(dist, thread), format: "cjs", comments: false },
});
for (const file of files) {
  // drizzle-kit needs the snapshots of the schema, the program does not.
  const filter = (name) => !name.endsWith("_snapshot.json");
  cpSync(path.join(root, "src", file), path.join(dist, file), { recursive: true, filter });
}
// The manifest of the project, and that of the package, say that files are ES modules.
writeFileSync(path.join(dist, "package.json"), '{ "type": "commonjs" }\n');
// The code has no comments, so the licences of the packages are in a file of their own.
writeFileSync(path.join(dist, "THIRD-PARTY-NOTICES.txt"), noticesOf([...graph.keys()]));

/** Returns the chunk of a module; null leaves the choice to rolldown. */
function groupOf(id) {
  groups ??= newGroups();
  return groups.find(({ modules }) => modules.has(id))?.name ?? null;
}

/**
 * Returns the chosen chunks: many small files take longer to load. A module is in the first one that has it. What a server shares with
 * commands stays in small ones, because a command needs few of them.
 */
function newGroups() {
  const forCommands = reachable("src/cli/client-commands.ts", true).union(
    reachable("src/cli/server-commands.ts", false),
  );
  return [
    // `--version` loads no more than this.
    { name: null, modules: reachable("build/launcher.js", false) },
    { name: "start", modules: reachable("src/main.ts", false).union(reachable("src/cli/client-commands.ts", false)) },
    { name: "resources", modules: reachable("src/cli/resource-chapters.ts", false) },
    { name: "server", modules: reachable("src/cli/serve.ts", false).difference(forCommands) },
  ];
}

/** Returns the modules that a module imports, and those that they import. */
function reachable(entry, withDynamic) {
  const found = new Set([path.join(root, entry)]);
  for (const id of found) {
    const { importedIds = [], dynamicallyImportedIds = [] } = graph.get(id) ?? {};
    for (const next of [...importedIds, ...(withDynamic ? dynamicallyImportedIds : [])]) found.add(next);
  }
  return found;
}

/** Lets the bundler see what drizzle.ts loads as CommonJS. */
function requireDrizzle(code) {
  return code.replace(/^const load = .*$/m, "").replaceAll(/\bload\("/g, 'require("');
}
