// Public files that `npm run suites -- advisories` reads: they are shipped in packages of public registries, which are downloaded by
// name and version, pinned by the digest of the archive, and kept in `.cache`. None of them is committed.
import { execFile } from "node:child_process";
import { hash } from "node:crypto";
import {
  createWriteStream,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openPromise } from "yauzl";

/** One package, and which of its files are documents. The JSON files of this folder are lists of these. */
export interface RealSource {
  /** The name in test names; it is part of a file name. */
  readonly name: string;
  /** `go`: a module of the Go module proxy. `npm`: a tarball. `pypi`: a wheel. */
  readonly registry: "go" | "npm" | "pypi";
  readonly package: string;
  readonly version: string;
  /** Of the archive that the registry serves (zip, tgz or wheel), in hexadecimal. */
  readonly sha256: string;
  /** Globs of the files, from the top of the module or the package: `testdata/vulndb/*.json`. */
  readonly paths: readonly string[];
  /** The format of the documents; `mixed` where there are several. */
  readonly format: "osv" | "openvex" | "csaf" | "secdb" | "yaml" | "mixed";
  /** How many records and files an import leaves out. None when it is absent. */
  readonly leftOut?: number;
  /** The mandatory tests of CSAF that the documents fail themselves, and that exports of them therefore may fail. */
  readonly csafFailures?: readonly string[];
  /** The reason for these numbers, and other peculiarities of the files. */
  readonly remarks?: string;
}

/** A package whose files lie on this machine. */
export interface FetchedSource extends RealSource {
  /** The folder with the files of `paths`, and nothing else. */
  readonly directory: string;
  readonly files: readonly string[];
}

const here = fileURLToPath(new URL(".", import.meta.url));
const cache = fileURLToPath(new URL("../../../.cache/advisories/", import.meta.url));
const run = promisify(execFile);
const patience = { timeout: 120_000, maxBuffer: 16 * 2 ** 20 };

/** Returns all sources of the JSON files of this folder. */
export function realSources(): RealSource[] {
  const lists = readdirSync(here).filter((name) => name.endsWith(".json"));
  return lists.flatMap((name) => JSON.parse(readFileSync(path.join(here, name), "utf8")) as RealSource[]);
}

/** Downloads the package unless its files are there. Throws a sentence when it cannot, or when it is another archive. */
export async function fetchSource(source: RealSource): Promise<FetchedSource> {
  const directory = path.join(cache, `${source.name}-${hash("sha256", JSON.stringify(source)).slice(0, 12)}`);
  if (!existsSync(directory)) await download(source, directory);
  const files = globSync("**/*", { cwd: directory, withFileTypes: true }).filter((each) => each.isFile());
  return { ...source, directory, files: files.map((each) => path.join(each.parentPath, each.name)).sort() };
}

/** Another run sees all of the files or none. */
async function download(source: RealSource, directory: string): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(path.join(cache, "download-"));
  try {
    const archive = await registries[source.registry](source, work);
    const found = hash("sha256", readFileSync(archive));
    if (found !== source.sha256) throw new Error(`${source.name}: the archive has the SHA-256 ${found}`);
    const files = path.join(work, "files");
    mkdirSync(files);
    await unpack(archive, source, files);
    renameSync(files, directory);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The path of the archive, as the client of the registry downloads it. */
const registries: Readonly<Record<RealSource["registry"], (source: RealSource, work: string) => Promise<string>>> = {
  async go(source) {
    // The archive is pinned here: no database of checksums needs to be asked.
    const env = { ...process.env, GONOSUMDB: "*" };
    const args = ["mod", "download", "-json", `${source.package}@${source.version}`];
    const { stdout } = await run("go", args, { ...patience, env });
    return (JSON.parse(stdout) as { readonly Zip: string }).Zip;
  },
  async npm(source, work) {
    const args = ["pack", "--silent", "--ignore-scripts", "--pack-destination", work];
    await run("npm", [...args, `${source.package}@${source.version}`], patience);
    return path.join(work, globSync("*.tgz", { cwd: work })[0]!);
  },
  async pypi(source, work) {
    const args = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", work];
    await run("python3", [...args, `${source.package}==${source.version}`], patience);
    return path.join(work, globSync("*.whl", { cwd: work })[0]!);
  },
};

async function unpack(archive: string, source: RealSource, directory: string): Promise<void> {
  if (archive.endsWith(".tgz")) return await untar(archive, source, directory);
  const top = source.registry === "go" ? `${source.package}@${source.version}/` : "";
  const zip = await openPromise(archive);
  for await (const entry of zip.eachEntry()) {
    const name = entry.fileName.slice(top.length);
    if (name.endsWith("/") || !isWanted(source, name)) continue;
    const file = path.join(directory, name);
    mkdirSync(path.dirname(file), { recursive: true });
    await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(file));
  }
}

async function untar(archive: string, source: RealSource, directory: string): Promise<void> {
  const whole = `${directory}.whole`;
  mkdirSync(whole);
  await run("tar", ["-xzf", archive, "-C", whole, "--strip-components=1"], patience);
  for (const file of globSync(source.paths, { cwd: whole })) {
    mkdirSync(path.dirname(path.join(directory, file)), { recursive: true });
    renameSync(path.join(whole, file), path.join(directory, file));
  }
}

function isWanted({ paths }: RealSource, name: string): boolean {
  return paths.some((glob) => path.matchesGlob(name, glob));
}
