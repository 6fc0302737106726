// The images that deploy/Containerfile starts from, made of Debian packages and the Node of npm: no registry is asked.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, realpathSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { nodeOf } from "../packages/installation.ts";

const libraries = ["base-files", "netbase", "libc6", "libstdc++6", "libgcc-s1", "gcc-12-base", "ca-certificates"];

export function buildah(...args: string[]): string {
  return execFileSync("buildah", args, { encoding: "utf8", stdio: "pipe" }).trim();
}

/** Returns why images cannot be made here, or false. */
export function imagesAreMissing(): string | false {
  const missing = ["buildah", "mmdebstrap", "unshare"].filter((name) => spawnSync("which", [name]).status !== 0);
  if (process.getuid?.() !== 0) missing.push("root");
  return missing.length > 0 && `it needs ${missing.join(", ")}`;
}

/** The certificates of this machine: npm may reach its registry through a proxy with an authority of its own. */
const certificates = "/etc/ssl/certs/ca-certificates.crt";

/** Returns the options of `buildah build` for an image on these, with the certificates and the downloads that npm has. */
export function buildOptions({ node, base }: { node: string; base: string }): string[] {
  return [
    `--build-arg=NODE=${node}`,
    `--build-arg=BASE=${base}`,
    `--build-arg=NODE_EXTRA_CA_CERTS=${certificates}`,
    `--volume=${certificates}:${certificates}:ro`,
    `--volume=${homedir()}/.npm:/root/.npm`,
  ];
}

/** Makes both images, and returns their tags. `node` has Node 24, npm and a shell, `base` only libraries and certificates. */
export function makeBaseImages(): { node: string; base: string } {
  const node = makeImage("node", [...libraries, "dash", "coreutils"], (root) => {
    cpSync(realpathSync(path.join(nodeOf(24), "node")), path.join(root, "usr/bin/node"));
    const npm = realpathSync(execFileSync("which", ["npm"], { encoding: "utf8" }).trim());
    cpSync(path.resolve(npm, "../.."), `${root}/opt/npm`, { recursive: true });
    execFileSync("ln", ["-sf", "/opt/npm/bin/npm-cli.js", path.join(root, "usr/bin/npm")]);
    execFileSync("ln", ["-sf", "dash", path.join(root, "usr/bin/sh")]);
  });
  return { node, base: makeImage("base", libraries, () => {}) };
}

export function removeBaseImages(): void {
  spawnSync("buildah", ["rmi", "--force", tagOf("node"), tagOf("base")]);
}

const tagOf = (name: string) => `localhost/gatehouse-test-${name}:latest`;

/** Makes an image of Debian packages, without running their scripts. */
function makeImage(name: string, packages: string[], change: (root: string) => void): string {
  const archive = path.resolve(".cache", `image-${name}.tar`);
  mkdirSync(path.dirname(archive), { recursive: true });
  const options = ["--mode=root", "--variant=extract", `--include=${packages.join(",")}`];
  if (!existsSync(archive)) execFileSync("mmdebstrap", [...options, "bookworm", archive], { stdio: "pipe" });
  const made = buildah("from", "scratch");
  const root = buildah("mount", made);
  execFileSync("tar", ["-xf", archive, "-C", root]);
  for (const unused of ["var/lib/apt", "var/cache", "usr/share/man", "usr/share/locale"])
    rmSync(path.join(root, unused), { recursive: true, force: true });
  change(root);
  buildah("commit", "--rm", made, tagOf(name));
  return tagOf(name);
}
