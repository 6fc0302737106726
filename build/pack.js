// `npm run pack`: writes `dist/gatehouse-server-VERSION.tgz`, the package of the program, from what `npm run build` made
// (docs/decisions/0083). It has a manifest of its own: that of the clone is for development.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { oldestNode } from "./oldest-node.js";

console.log("Packing what npm run build made…");

// The name `gatehouse` belongs to another package.
const packageName = "gatehouse-server";
const root = path.resolve(import.meta.dirname, "..");
const outDir = path.resolve(process.argv[2] ?? path.join(root, "dist"));
const staging = path.join(outDir, "package");
const { version, license, description, dependencies } = JSON.parse(
  readFileSync(path.join(root, "package.json"), "utf8"),
);
const built = [
  "chunks",
  "console",
  "gatehouse.js",
  "man",
  "package.json",
  "sboms",
  "storage",
  "THIRD-PARTY-NOTICES.txt",
];
const documents = ["deploy", "docs", "proto", "README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md"];

for (const name of built) {
  if (!existsSync(path.join(root, "dist", name))) throw new Error(`dist/${name} is missing: run npm run build first`);
}
rmSync(staging, { recursive: true, force: true });
mkdirSync(staging, { recursive: true });
for (const name of built) cpSync(path.join(root, "dist", name), path.join(staging, "dist", name), { recursive: true });
// The pages that the server shows have their pictures in the console; 9 MB of them again are not worth the download.
const pictures = path.join(root, "docs", "images");
for (const name of documents)
  cpSync(path.join(root, name), path.join(staging, name), { recursive: true, filter: (from) => from !== pictures });
writeFileSync(path.join(staging, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
writeFileSync(path.join(staging, "sbom.cdx.json"), billOfMaterials());
execFileSync("npm", ["pack", "--silent", "--pack-destination", outDir], { cwd: staging, stdio: "inherit" });

/**
 * Returns the packages of the program in the format of CycloneDX. npm reads them from the lock file: the bundle has no packages. The
 * same commit gives the same text: it has neither a random serial number nor the time of the build.
 */
function billOfMaterials() {
  const options = [
    "--package-lock-only",
    "--omit=dev",
    "--omit=optional",
    "--workspaces=false",
    "--sbom-format=cyclonedx",
  ];
  const output = execFileSync("npm", ["sbom", ...options], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
    encoding: "utf8",
  });
  const { serialNumber: _random, metadata, ...sbom } = JSON.parse(output);
  const { timestamp: _now, component, ...others } = metadata;
  // npm takes the name of the folder.
  const named = { ...component, name: packageName, purl: `pkg:npm/${packageName}@${version}` };
  return `${JSON.stringify({ ...sbom, metadata: { ...others, component: named } }, null, 2)}\n`;
}

function manifest() {
  return {
    name: packageName,
    version,
    license,
    description,
    type: "module",
    bin: { gatehouse: "dist/gatehouse.js" },
    // npm links these at a global installation, and ignores `directories.man`.
    man: readdirSync(path.join(root, "dist/man"))
      .sort()
      .map((page) => `./dist/man/${page}`),
    files: ["deploy", "dist", "docs", "proto", "CHANGELOG.md", "SECURITY.md", "sbom.cdx.json"],
    engines: { node: `>=${oldestNode}` },
    dependencies: { "better-sqlite3": dependencies["better-sqlite3"] },
  };
}
