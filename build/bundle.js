// `npm run build`: bundles the program, which then starts in half of the time (docs/decisions/0053). Writes `dist/`, or the
// folder given as argument.
import { cpSync, existsSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { build } from "rolldown";

const root = path.resolve(import.meta.dirname, "..");
const dist = path.resolve(process.argv[2] ?? path.join(root, "dist"));

/** Packages that stay in `node_modules`: native code, and packages that load parts of themselves or files by path. */
const external = ["@bomb.sh/tab", "better-sqlite3", "drizzle-orm", "oidc-provider", "open", "pg", "pino"];

/** Files that the program opens by path, relative to `src` and to `dist` (src/base/program-file.ts). */
const files = ["storage/schema/migrations", "storage/engine/sqlite/checkpoint-thread.cjs"];

const server = path.join(root, "src/cli/serve.ts");
const commandLine = path.join(root, "src/cli/client-commands.ts");

// All but the console, which console/build.js makes.
for (const name of existsSync(dist) ? readdirSync(dist) : [])
  if (name !== "console") rmSync(path.join(dist, name), { recursive: true });
/** The imports of each module. */
const graph = new Map();
let groups;
await build({
  cwd: root,
  input: "src/gatehouse.js",
  platform: "node",
  preserveEntrySignatures: false,
  logLevel: "warn",
  external: external.map((name) => new RegExp(`^${name}(/|$)`)),
  plugins: [{ name: "graph", moduleParsed: (module) => void graph.set(module.id, module) }],
  output: {
    dir: dist,
    format: "esm",
    comments: false,
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    // One chunk for a server, and one for what it shares with the command line: many small files take longer to load.
    codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: groupOf, debugName: "server" }] },
  },
});
for (const file of files) {
  // drizzle-kit needs the snapshots of the schema, the program does not.
  const filter = (name) => !name.endsWith("_snapshot.json");
  cpSync(path.join(root, "src", file), path.join(dist, file), { recursive: true, filter });
}

/** Returns the chunk of a module; null leaves the choice to rolldown. */
function groupOf(id) {
  groups ??= { server: reachable(server, false), commandLine: reachable(commandLine, true) };
  if (!groups.server.has(id)) return null;
  return groups.commandLine.has(id) ? "shared" : "server";
}

/** Returns the modules that a module imports, and those that they import. */
function reachable(entry, withDynamic) {
  const found = new Set([entry]);
  for (const id of found) {
    const { importedIds = [], dynamicallyImportedIds = [] } = graph.get(id) ?? {};
    for (const next of [...importedIds, ...(withDynamic ? dynamicallyImportedIds : [])]) found.add(next);
  }
  return found;
}
