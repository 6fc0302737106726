// Packages as `npm run pack` makes them, installed for a Node that is not the one of the tests.
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { environmentOf, type Finished } from "../cli/process.ts";
import { freePort } from "../harness/postgres.ts";

/** The folder for downloads, which outlives a run. */
const downloads = path.resolve(".cache/package-nodes");

/** Returns a folder for PATH in which `node` is the newest release of a version. It comes from npm. */
export function nodeOf(version: number): string {
  const folder = path.join(downloads, String(version));
  if (!existsSync(path.join(folder, "bin/node"))) {
    mkdirSync(path.join(folder, "bin"), { recursive: true });
    const name = `node-${process.platform}-${process.arch}@${version}`;
    execFileSync("npm", ["install", "--no-save", "--ignore-scripts", "--prefix", folder, name], { stdio: "pipe" });
    symlinkSync(path.join(folder, "node_modules", name.split("@")[0]!, "bin/node"), path.join(folder, "bin/node"));
  }
  return path.join(folder, "bin");
}

/**
 * Makes the package that `npm run build` and `npm run pack` make, in a folder, and returns its path. With GATEHOUSE_TEST_PACKAGE, copies
 * that file instead: a release tests what it publishes.
 */
export function pack(folder: string): string {
  const given = process.env.GATEHOUSE_TEST_PACKAGE;
  if (given) {
    if (!existsSync(given)) throw new Error(`GATEHOUSE_TEST_PACKAGE: there is no file ${given}`);
    const copy = path.join(folder, path.basename(given));
    mkdirSync(folder, { recursive: true });
    copyFileSync(given, copy);
    return copy;
  }
  execFileSync("npm", ["run", "build"], { stdio: "pipe" });
  execFileSync("npm", ["run", "pack", "--", folder], { stdio: "pipe" });
  return path.join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz"))!);
}

/** Returns the version that a package has by its name. */
export function versionOf(tarball: string): string {
  return /gatehouse-server-(.*)\.tgz$/.exec(tarball)![1]!;
}

/** Makes the same package with another version. */
export function repack(tarball: string, version: string, folder: string): string {
  mkdirSync(folder, { recursive: true });
  execFileSync("tar", ["-xzf", tarball, "-C", folder]);
  const file = path.join(folder, "package/package.json");
  const manifest = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...manifest, version }));
  const entry = path.join(folder, "package/dist/gatehouse.js");
  const code = readFileSync(entry, "utf8");
  const changed = code.replaceAll(`version: "${manifest.version}",`, `version: "${version}",`);
  if (changed === code) throw new Error(`${entry} has no version`);
  writeFileSync(entry, changed);
  execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: path.dirname(file), stdio: "pipe" });
  return path.join(folder, `gatehouse-server-${version}.tgz`);
}

/** A server that runs from an installed package. */
export interface PackagedServer extends AsyncDisposable {
  readonly url: string;
  readonly ownerToken: string;
  /** Ends it by SIGTERM, and returns its exit code. */
  stop(): Promise<number | null>;
}

/** An empty folder with an installed package. */
export interface Installation {
  readonly folder: string;
  install(tarball: string): void;
  run(args: readonly string[], environment?: Record<string, string>): Promise<Finished>;
  /** Starts a development server with its data in this folder. */
  serve(data: string, ...options: string[]): Promise<PackagedServer>;
}

/** Returns an installation for the Node of a folder. Its PATH has that Node, and no other program than those of the system. */
export function newInstallation(folder: string, nodeBin: string): Installation {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "package.json"), "{}");
  const env = environmentOf({ PATH: `${nodeBin}:/usr/bin:/bin`, HOME: folder });
  const bin = path.join(folder, "node_modules/.bin/gatehouse");
  const start = (args: readonly string[], more: Record<string, string> = {}) =>
    spawn(bin, args, { cwd: folder, env: { ...env, ...more } });
  return {
    folder,
    install(tarball) {
      const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", tarball];
      execFileSync("npm", args, { cwd: folder, env: { ...process.env, PATH: env.PATH }, stdio: "pipe" });
    },
    run: (args, environment) => finished(start(args, environment)),
    async serve(data, ...options) {
      const url = `http://127.0.0.1:${await freePort()}`;
      const child = start(["serve", "--dev", "--listen", new URL(url).host, "--data-dir", data, ...options]);
      const end = finished(child);
      await new Promise<void>((resolve, reject) => {
        child.stdout.on("data", (text) => String(text).includes("owner-token") && resolve());
        void end.then(({ stderr }) => reject(new Error(stderr)));
      });
      const stop = async () => {
        child.kill("SIGTERM");
        return (await end).code;
      };
      return {
        url,
        ownerToken: readFileSync(path.resolve(folder, data, "owner-token"), "utf8"),
        stop,
        async [Symbol.asyncDispose]() {
          await stop();
        },
      };
    },
  };
}

function finished(child: ReturnType<typeof spawn>): Promise<Finished> {
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (text) => {
    stdout += text;
  });
  child.stderr?.on("data", (text) => {
    stderr += text;
  });
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
}
