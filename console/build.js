// Builds the console, the API reference and the guides into `dist/console`, or the folder given as argument, with compressed forms of
// their files (docs/decisions/0071, 0075). `npm ci` runs it by `prepare`, and `npm run build` with the program.
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { noticesOf } from "../build/notices.js";

const root = import.meta.dirname;
/** Packages of which the build takes files that are not modules: shapes of icons, and fonts. */
const fileOwners = ["@primer/octicons", "@fontsource-variable/inter"];
const isPrepare = process.argv[2] === "--prepare";
const outDir = path.resolve((isPrepare ? undefined : process.argv[2]) ?? path.join(root, "../dist/console"));

console.log("Building the console…");
const vite = await import("vite").catch((error) => {
  // `npm ci --omit=dev` has no compiler. The server then says at /console/ how to build the console.
  if (isPrepare && error.code === "ERR_MODULE_NOT_FOUND") return undefined;
  throw error;
});
if (vite) {
  await vite.build({
    root,
    logLevel: "warn",
    plugins: [{ name: "notices", generateBundle: writeNotices }],
    build: { outDir, emptyOutDir: true },
  });
  const { buildGuides } = await import("./guides.js");
  buildGuides(outDir);
  for (const file of readdirSync(outDir, { recursive: true }))
    if (/\.(js|css|html|json|svg)$/.test(file)) compress(path.join(outDir, file));
}

/** Adds the licences of the packages to the files: the code has no comments. */
function writeNotices() {
  const modules = [
    ...this.getModuleIds(),
    ...fileOwners.map((name) => path.join(root, "../node_modules", name, "package.json")),
  ];
  this.emitFile({ type: "asset", fileName: "third-party-notices.txt", source: noticesOf(modules) });
}

/** Writes the forms of a file that browsers accept, unless they are hardly smaller. */
function compress(file) {
  const content = readFileSync(file);
  if (statSync(file).size < 1024) return;
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  for (const [suffix, bytes] of [
    [".br", brotliCompressSync(content, { params })],
    [".gz", gzipSync(content, { level: 9 })],
  ]) {
    rmSync(file + suffix, { force: true });
    writeFileSync(file + suffix, bytes);
  }
}
