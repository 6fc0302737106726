// `npm run build -w gatehouse-client`: writes `dist/`, with one module for each package of the protos and the declarations of all
// (docs/design/delivery.md).
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build } from "rolldown";

const own = import.meta.dirname;
const root = path.resolve(own, "../..");
const dist = path.join(own, "dist");
const sources = ["index", "node", "sentences", "testing", "web"];

/** The generated files of each package of the protos, by its path. The versions of health and reflection are for servers. */
const packages = Map.groupBy(
  globSync("{chainguard,gatehouse,google/rpc}/**/*_pb.ts", { cwd: path.join(root, "gen") }).sort(),
  (file) => path.dirname(file),
);

rmSync(dist, { recursive: true, force: true });
await build({
  cwd: own,
  input: {
    ...Object.fromEntries(sources.map((name) => [name, `src/${name}.ts`])),
    ...Object.fromEntries([...packages.keys()].map((name) => [name, `gen:${name}`])),
  },
  platform: "neutral",
  external: /^(node:|@bufbuild\/|@connectrpc\/)/,
  logLevel: "warn",
  plugins: [
    {
      name: "packages",
      resolveId: (id) => (id.startsWith("gen:") ? `\0${id}` : undefined),
      load: (id) => (id.startsWith("\0gen:") ? reexports(id.slice("\0gen:".length)) : undefined),
    },
  ],
  output: { dir: dist, format: "esm", entryFileNames: "[name].js", chunkFileNames: "chunks/[name]-[hash].js" },
});
execFileSync(path.join(root, "node_modules/.bin/tsc"), ["--project", own], { stdio: "inherit" });
for (const name of sources) writeDeclarations(name, [`packages/client/src/${name}`]);
for (const [name, files] of packages)
  writeDeclarations(
    name,
    files.map((file) => `gen/${file.replace(/\.ts$/, "")}`),
  );

/** Returns a module that exports what all files of a package export. */
function reexports(name) {
  return packages
    .get(name)
    .map((file) => `export * from ${JSON.stringify(path.join(root, "gen", file))};`)
    .join("\n");
}

/** Writes the declarations of a module: everything that these modules of the compiler export. */
function writeDeclarations(name, modules) {
  const file = path.join(dist, `${name}.d.ts`);
  const types = path.relative(path.dirname(file), path.join(dist, "types"));
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, modules.map((module) => `export * from "./${types}/${module}.js";\n`).join(""));
}
